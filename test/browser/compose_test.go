package browser

import (
	"image/color"
	"testing"
)

func TestCompose(t *testing.T) {
	t.Parallel()
	driveComposer(t, "compose.js")
}

func TestComposeUploads(t *testing.T) {
	t.Parallel()
	driveComposer(t, "compose_uploads.js")
}

func TestComposeClicks(t *testing.T) {
	t.Parallel()
	driveComposer(t, "compose_clicks.js")
}

// TestComposeThread writes a thread.
func TestComposeThread(t *testing.T) {
	t.Parallel()
	driveComposer(t, "compose_thread.js")
}

// TestComposeCrop crops images of a post.
func TestComposeCrop(t *testing.T) {
	t.Parallel()
	driveComposer(t, "compose_crop.js")
}

// TestComposeTitle shows, hides and customizes the title of a post.
func TestComposeTitle(t *testing.T) {
	t.Parallel()
	driveComposer(t, "compose_title.js")
}

// driveComposer runs a script of the composer with two images to upload.
func driveComposer(t *testing.T, script string) {
	t.Helper()
	world := greeting{"chromium": requireChromium(t)}
	dir := t.TempDir()
	world["pictures"] = map[string]string{
		"red":  picture(t, dir, "red", color.RGBA{R: 200, G: 30, B: 30, A: 255}),
		"blue": picture(t, dir, "blue", color.RGBA{R: 40, G: 60, B: 200, A: 255}),
	}
	drive(t, script, quickstart(t), world)
}
