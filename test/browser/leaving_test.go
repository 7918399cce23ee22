package browser

import "testing"

func TestOperatorAndTeamDeletion(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	drive(t, "leaving.js", quickstart(t), world)
}
