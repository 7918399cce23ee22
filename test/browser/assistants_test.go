package browser

import "testing"

// TestAssistants lets programs in that speak the protocol by its own client.
func TestAssistants(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": needs(t)}
	drive(t, "assistants.js", quickstart(t), world)
}
