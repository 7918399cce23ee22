package browser

import (
	"image/color"
	"testing"
)

func TestCompose(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": needs(t)}
	dir := t.TempDir()
	world["pictures"] = map[string]string{
		"red":  picture(t, dir, "red", color.RGBA{R: 200, G: 30, B: 30, A: 255}),
		"blue": picture(t, dir, "blue", color.RGBA{R: 40, G: 60, B: 200, A: 255}),
	}
	drive(t, "compose.js", quickstart(t), world)
}
