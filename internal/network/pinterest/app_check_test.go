package pinterest_test

import (
	"testing"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/pinterest"
)

// An app with Trial access passes the checks but cannot create Pins.
func TestTrialApp(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter.WithApp("-trial"), 0)
	g := f.Grant()
	if bad := networktest.Findings(f.CheckedAccount(g), network.Fails); len(bad) > 0 {
		t.Errorf("failures: %q", bad)
	}
	_, err := f.Commit(g, f.PrepareUsual(g, "a pin"))
	networktest.WantClass(t, err, network.Unapproved, "29")
	f.WantPosts(0)
}

// CheckApp reports that the app uses Pinterest's sandbox.
func TestAppCheckOfPinterestSandbox(t *testing.T) {
	t.Parallel()
	n := pinterest.New(pinterest.Options{APIHost: "http://api-sandbox.localhost:1"})
	networktest.WantFinding(t, n.CheckApp(t.Context()), network.Unclear, "api_host", "nobody else can see Pins")
}
