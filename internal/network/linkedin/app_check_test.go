package linkedin_test

import (
	"net/http"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
)

// Each product's app has the scopes that its accounts need.
func TestAppCheckOfProducts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]networktest.Case{"self-service": selfService, "Advertising API": adapter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := networktest.New(t, c, 0)
			for _, candidate := range f.Candidates("", "mira.keller") {
				found := f.CheckAccount(candidate.Grant)
				if bad := networktest.Findings(found, network.CheckFailed); len(bad) > 0 {
					t.Errorf("%s: %q", candidate.Grant.Kind, bad)
				}
				networktest.WantFinding(t, found, network.CheckPassed, "API version 2026")
				if candidate.Grant.Kind == "member" {
					networktest.WantFinding(t, found, network.CheckUnclear, "list of a member's posts", "r_member_social")
				}
			}
		})
	}
	f := networktest.New(t, company, 0)
	for _, candidate := range f.Candidates("company", "mira.keller") {
		found := f.CheckAccount(candidate.Grant)
		networktest.WantFinding(t, found, network.CheckPassed, "API version 2026")
		if bad := networktest.Findings(found, network.CheckFailed); len(bad) > 0 {
			t.Errorf("%s: %q", candidate.Grant.Kind, bad)
		}
	}
}

// CheckAccount reports a missing product and a retired API version.
func TestAppCheckFindsMissingProducts(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, selfService, 0)
	g := f.Candidates("", "mira.keller")[0].Grant
	g.Kind = "organization"
	networktest.WantFinding(t, f.CheckAccount(g), network.CheckFailed, "permission w_organization_social",
		"posts cannot be published", "choose the settings that match: \"organizations\"")

	for _, scopes := range []string{"rw_organization_admin", "w_organization_social", "openid"} {
		s := networktest.NewStub(t, adapter, network.App{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/introspectToken") {
				_, _ = w.Write([]byte(`{"active":true,"status":"active","scope":"` + scopes + `"}`))
				return
			}
			w.WriteHeader(http.StatusUpgradeRequired)
			_, _ = w.Write([]byte(`{"status":426,"code":"NONEXISTENT_VERSION","message":"Requested version is not active"}`))
		}))
		n, _ := s.Network.(network.AppChecker)
		found := n.CheckAccount(t.Context(), s.Grant)
		if scopes == "openid" {
			networktest.WantFinding(t, found, network.CheckUnclear, "API version 2026", "could not be checked")
			continue
		}
		networktest.WantFinding(t, found, network.CheckFailed, "API version 2026", "NONEXISTENT_VERSION",
			"Set a current API version")
	}
}
