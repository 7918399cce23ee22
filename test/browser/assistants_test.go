package browser

import "testing"

// TestAssistants authorizes clients of the MCP SDK.
func TestAssistants(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	drive(t, "assistants.js", quickstart(t), world)
}
