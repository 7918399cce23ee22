package browser

import "testing"

func TestOperatorAndLeaving(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": needs(t)}
	drive(t, "leaving.js", quickstart(t), world)
}
