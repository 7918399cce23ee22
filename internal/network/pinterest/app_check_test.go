package pinterest_test

import (
	"net/http"
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/pinterest"
)

// An app with Trial access passes the checks but cannot create Pins.
func TestTrialApp(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter.WithApp("-trial"), 0)
	g := f.Grant()
	if bad := networktest.Findings(f.CheckAccount(g), network.CheckFailed); len(bad) > 0 {
		t.Errorf("failures: %q", bad)
	}
	_, err := f.Commit(g, f.PrepareUsual(g, "a pin"))
	networktest.WantClass(t, err, network.AppNotApproved, "29")
	f.WantPosts(0)
}

// CheckApp reports that the app uses Pinterest's sandbox.
func TestAppCheckOfPinterestSandbox(t *testing.T) {
	t.Parallel()
	n := pinterest.New(pinterest.Options{APIHost: "http://api-sandbox.localhost:1"})
	networktest.WantFinding(t, n.CheckApp(t.Context()), network.CheckUnclear, "api_host", "nobody else can see Pins")
}

// Pinterest may reject the check's invalid token with the status of a wrong secret. The check is then CheckUnclear.
func TestAppCheckOfUnclearRejection(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]network.CheckResult{
		"Authentication failed.": network.CheckUnclear, "The client is unknown.": network.CheckFailed,
	} {
		s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{
			Status: http.StatusUnauthorized, Body: `{"code":2,"message":"` + message + `"}`,
		})
		n, _ := s.Network.(network.AppChecker)
		networktest.WantFinding(t, n.CheckApp(t.Context()), want, "client ID and secret", message, "Compare the app's ID and secret")
	}
}
