package browser

import "testing"

func TestOperator(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	drive(t, "operator.js", quickstart(t), world)
}
