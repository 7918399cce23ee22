package browser

import "testing"

func TestPages(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": needs(t)}
	drive(t, "pages.js", quickstart(t), world)
}
