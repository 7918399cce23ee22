package browser

import "testing"

func TestReports(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": needs(t)}
	drive(t, "reports.js", quickstart(t), world)
}
