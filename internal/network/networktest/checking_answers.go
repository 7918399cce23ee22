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
		for _, found := range f.CheckedAccount(f.Connect(kind, Account)) {
			if scope, ok := strings.CutPrefix(found.Subject, "permission "); ok {
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
			g := candidates[min(c.Pick, len(candidates)-1)].Grant
			wantOnlyFailure(t, f.CheckedAccount(g), kind+" "+scope, "permission "+scope)
		}
		if connected == 0 {
			t.Errorf("%s: every permission of %q is needed to connect an account", kind, granted)
		}
	}
}

// wantOnlyFailure checks that only the finding about the subject fails, with a detail and a next step.
func wantOnlyFailure(t *testing.T, all []network.Finding, name, subject string) {
	t.Helper()
	for _, found := range all {
		if failed := found.Result == network.CheckFailed; failed != (found.Subject == subject) ||
			failed && (!strings.Contains(found.Detail, "Not granted: ") || found.NextStep == "") {
			t.Errorf("without %s: %+v", name, found)
		}
	}
}

// checkTemporaryErrors checks that failures and rate limits of the network are not reported as failures of the app.
func checkTemporaryErrors(t *testing.T, c Case) {
	for _, answer := range []StubResponse{
		{Status: http.StatusInternalServerError, Body: "<html>"}, {Status: http.StatusServiceUnavailable},
		{Status: http.StatusTooManyRequests, Body: "slow down"}, {Body: "no JSON"},
	} {
		s := c.stubAt(t, Serve(t, answer), network.App{})
		n := checker(t, s.Network)
		found := append(n.CheckApp(t.Context()), n.CheckAccount(t.Context(), s.Grant)...)
		if len(Findings(found, network.CheckUnclear)) == 0 {
			t.Errorf("HTTP %d %s: %+v", answer.Status, answer.Body, found)
		}
		for _, one := range found {
			if one.Result != network.CheckUnclear || one.Detail == "" || one.NextStep == "" {
				t.Errorf("HTTP %d %s: %+v", answer.Status, answer.Body, one)
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
		for _, one := range append(n.CheckApp(t.Context()), n.CheckAccount(t.Context(), s.Grant)...) {
			if one.Result != network.CheckPassed && (one.Detail == "" || one.NextStep == "") {
				t.Errorf("HTTP %d: %+v", status, one)
			}
		}
	}
}
