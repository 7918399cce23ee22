package browser

import "testing"

func TestOperatorAndTeamDeletion(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": needs(t)}
	drive(t, "leaving.js", quickstart(t), world)
}
