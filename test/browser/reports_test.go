package browser

import "testing"

func TestReports(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	drive(t, "reports.js", quickstart(t), world)
}
