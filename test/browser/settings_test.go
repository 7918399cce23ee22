package browser

import "testing"

func TestSettings(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	drive(t, "settings.js", quickstart(t), world)
}
