package browser

import "testing"

func TestSettings(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": needs(t)}
	drive(t, "settings.js", quickstart(t), world)
}
