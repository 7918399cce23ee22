package browser

import (
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

var update = flag.Bool("update", false, "store the pictures of the components")

// maxChanged is the share of pixels that may differ, because releases of Chromium draw letters slightly differently.
const maxChanged = 0.002

// TestComponents compares the components page with stored screenshots. After an intended change, run it with -update
// and look at the screenshots.
func TestComponents(t *testing.T) {
	t.Parallel()
	current, stored := "../../build/browser", "testdata"
	if *update {
		current = stored
	}
	current = must.Get(filepath.Abs(current))(t)
	drive(t, "components.js", quickstart(t), greeting{"chromium": requireChromium(t), "pictures": current})
	for _, scheme := range []string{"light", "dark"} {
		name := "components-" + scheme + ".png"
		got, want := decode(t, filepath.Join(current, name)), decode(t, filepath.Join(stored, name))
		if got.Bounds() != want.Bounds() {
			t.Errorf("size of %s = %v, want %v", name, got.Bounds().Max, want.Bounds().Max)
		} else if share := changed(got, want); share > maxChanged {
			t.Errorf("%s: %.2f %% has changed; compare %s", name, 100*share, filepath.Join(current, name))
		}
	}
}

func decode(t *testing.T, path string) image.Image {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	return must.Get(png.Decode(f))(t)
}

// changed returns the share of pixels in which a color channel differs by more than a quarter.
func changed(a, b image.Image) float64 {
	const visible = 0xffff / 4
	differs := func(x, y uint32) bool { return max(x, y)-min(x, y) > visible }
	n, size := 0, a.Bounds()
	for y := range size.Max.Y {
		for x := range size.Max.X {
			r, g, b1, _ := a.At(x, y).RGBA()
			r2, g2, b2, _ := b.At(x, y).RGBA()
			if differs(r, r2) || differs(g, g2) || differs(b1, b2) {
				n++
			}
		}
	}
	return float64(n) / float64(size.Dx()*size.Dy())
}
