package instagram_test

import (
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
)

// CheckAccount reports the account's limit with both sign-in methods. The finding fails if the limit is used up.
func TestAppCheck(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	for _, kind := range kinds {
		networktest.WantFinding(t, f.CheckAccount(f.Connect(kind, networktest.Account)), network.CheckPassed,
			"posts in 24 hours: 0 of 100 used")
	}
	g := f.Grant()
	f.Post(g, "one", f.Media()...)
	networktest.WantFinding(t, f.CheckAccount(g), network.CheckPassed, "posts in 24 hours: 1 of 100 used")

	s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{
		Body: `{"id":"1","username":"a","data":[{"quota_usage":100,"config":{"quota_total":100}}]}`,
	})
	s.Grant.Kind, s.Grant.Scopes = kinds[0], []string{"instagram_business_basic"}
	n, _ := s.Network.(network.AppChecker)
	found := n.CheckAccount(t.Context(), s.Grant)
	networktest.WantFinding(t, found, network.CheckFailed, "100 of 100 used", "Wait until the limit is reset")
	networktest.WantFinding(t, found, network.CheckFailed, "permission instagram_business_content_publish",
		"posts cannot be published")
}
