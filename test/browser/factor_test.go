package browser

import "testing"

// TestFactor uses localhost, because passkeys require a domain name.
func TestFactor(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	run := quickstartAt(t, "localhost:0")
	world["new"] = link(t, run, "teams", "invite", "--team", "1", "--email", "new@harbour.example", "--role", "editor")
	drive(t, "factor.js", run, world)
}
