package browser

import "testing"

func TestOperator(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": needs(t)}
	drive(t, "operator.js", quickstart(t), world)
}
