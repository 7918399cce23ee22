package facebook_test

import (
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
)

// The checks fail for an app without App Review and for a person who declined a permission.
func TestAppCheck(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter.WithApp("-unreviewed"), 0)
	found := f.CheckApp()
	networktest.WantFinding(t, found, network.CheckPassed, "client ID and secret")
	networktest.WantFinding(t, found, network.CheckUnclear, "App Review: Not approved: pages_show_list", "Complete App Review")

	g := f.Candidates("", networktest.Account+"&declined=read_insights")[0].Grant
	found = f.CheckAccount(g)
	networktest.WantFinding(t, found, network.CheckFailed, "permission read_insights", "metrics are missing",
		"Connect the account again")
	networktest.WantFinding(t, found, network.CheckPassed, "permission pages_manage_posts")
	if bad := networktest.Findings(found, network.CheckFailed); len(bad) != 1 {
		t.Errorf("failures: %q", bad)
	}
}
