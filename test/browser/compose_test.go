package browser

import (
	"image/color"
	"testing"
)

func TestCompose(t *testing.T) {
	t.Parallel()
	composing(t, "compose.js")
}

func TestComposeUploads(t *testing.T) {
	t.Parallel()
	composing(t, "compose_uploads.js")
}

func TestComposeClicks(t *testing.T) {
	t.Parallel()
	composing(t, "compose_clicks.js")
}

// composing runs a script that uploads two images.
func composing(t *testing.T, script string) {
	t.Helper()
	world := greeting{"chromium": requireChromium(t)}
	dir := t.TempDir()
	world["pictures"] = map[string]string{
		"red":  picture(t, dir, "red", color.RGBA{R: 200, G: 30, B: 30, A: 255}),
		"blue": picture(t, dir, "blue", color.RGBA{R: 40, G: 60, B: 200, A: 255}),
	}
	drive(t, script, quickstart(t), world)
}
