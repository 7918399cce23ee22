package networktest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
)

// checkMissingPermissions checks that the findings name each permission that was not granted. It connects an account
// without one permission at a time. If the account cannot be connected without a permission, that is correct too.
func checkMissingPermissions(t *testing.T, c Case) {
	if c.Passwords {
		t.Skip("the network has no permissions")
	}
	for _, kind := range c.kinds() {
		f := New(t, c, 0)
		var granted []string
		for _, finding := range f.CheckAccount(f.Connect(kind, Account)) {
			if scope, ok := strings.CutPrefix(finding.Subject, "permission "); ok {
				granted = append(granted, scope)
			}
		}
		connected := 0
		for _, scope := range granted {
			f.Scopes(slices.DeleteFunc(slices.Clone(granted), func(s string) bool { return s == scope })...)
			candidates, err := f.Exchange(kind, Account)
			if err != nil || len(candidates) == 0 {
				continue
			}
			connected++
			g := candidates[min(c.CandidateIndex, len(candidates)-1)].Grant
			wantOnlyFailure(t, f.CheckAccount(g), kind+" "+scope, "permission "+scope)
		}
		if connected == 0 {
			t.Errorf("%s: every permission of %q is needed to connect an account", kind, granted)
		}
	}
}

// wantOnlyFailure checks that only the finding about the subject fails, with a detail and a next step.
func wantOnlyFailure(t *testing.T, findings []network.Finding, name, subject string) {
	t.Helper()
	for _, finding := range findings {
		if isFailure := finding.Result == network.CheckFailed; isFailure != (finding.Subject == subject) ||
			isFailure && (!strings.Contains(finding.Detail, "Not granted: ") || finding.NextStep == "") {
			t.Errorf("without %s: %+v", name, finding)
		}
	}
}

// checkTemporaryErrors checks that failures and rate limits of the network are not reported as failures of the app.
func checkTemporaryErrors(t *testing.T, c Case) {
	for _, response := range []StubResponse{
		{Status: http.StatusInternalServerError, Body: "<html>"}, {Status: http.StatusServiceUnavailable},
		{Status: http.StatusTooManyRequests, Body: "slow down"}, {Body: "no JSON"},
	} {
		s := c.stubAt(t, Serve(t, response), network.App{})
		n := checker(t, s.Network)
		findings := append(n.CheckApp(t.Context()), n.CheckAccount(t.Context(), s.Grant)...)
		if len(Findings(findings, network.CheckUnclear)) == 0 {
			t.Errorf("HTTP %d %s: %+v", response.Status, response.Body, findings)
		}
		for _, finding := range findings {
			if finding.Result != network.CheckUnclear || finding.Detail == "" || finding.NextStep == "" {
				t.Errorf("HTTP %d %s: %+v", response.Status, response.Body, finding)
			}
		}
	}
}

// checkRejected checks that a finding with an error that the adapter does not know has a detail and a next step.
func checkRejected(t *testing.T, c Case) {
	for _, status := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound} {
		s := c.stubAt(t, Serve(t, StubResponse{Status: status, Body: `{"error":{"code":77777,"message":"strange"}}`}),
			network.App{})
		n := checker(t, s.Network)
		for _, finding := range append(n.CheckApp(t.Context()), n.CheckAccount(t.Context(), s.Grant)...) {
			if finding.Result != network.CheckPassed && (finding.Detail == "" || finding.NextStep == "") {
				t.Errorf("HTTP %d: %+v", status, finding)
			}
		}
	}
}
