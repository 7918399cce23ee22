package browser

import (
	"image/color"
	"testing"
)

func TestLibrary(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	world["picture"] = picture(t, t.TempDir(), "quay", color.RGBA{R: 40, G: 90, B: 160, A: 255})
	drive(t, "library.js", quickstart(t), world)
}
