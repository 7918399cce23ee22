package networktest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
)

// testChecking tests how the adapter reports what an app may do.
func testChecking(t *testing.T, c Case) {
	t.Helper()
	subtests(t, c, map[string]func(*testing.T, Case){
		"an app that may do all": checkGoodApp, "a wrong secret": checkWrongSecret, "an unknown token": checkUnknownToken,
		"no answer": checkUnreachable, "a missing permission": checkMissingPermissions, "a network in trouble": checkTemporaryErrors,
		"an unknown error": checkRejected,
	})
}

func checker(t *testing.T, n network.Network) network.AppChecker {
	t.Helper()
	out, ok := n.(network.AppChecker)
	if !ok {
		t.Fatal("the network does not check apps")
	}
	return out
}

// Findings returns the findings that have the given result, each as "subject: detail: next step".
func Findings(findings []network.Finding, result network.CheckResult) []string {
	var out []string
	for _, f := range findings {
		if f.Result == result {
			out = append(out, strings.Join([]string{f.Subject, f.Detail, f.NextStep}, ": "))
		}
	}
	return out
}

func checkGoodApp(t *testing.T, c Case) {
	f := New(t, c, 0)
	n := checker(t, f.Network())
	for _, kind := range c.kinds() {
		findings := n.CheckAccount(t.Context(), f.Connect(kind, Account))
		if failures := Findings(findings, network.CheckFailed); len(failures) > 0 || len(Findings(findings, network.CheckPassed)) == 0 {
			t.Errorf("%s: %+v", kind, findings)
		}
		if !c.Passwords && !strings.Contains(fmt.Sprint(findings), "permission ") {
			t.Errorf("%s: no permissions in %+v", kind, findings)
		}
	}
	if findings := n.CheckApp(t.Context()); len(Findings(findings, network.CheckPassed)) != len(findings) || len(findings) == 0 &&
		!c.Passwords {
		t.Errorf("%+v", findings)
	}
	f.WantPosts(0)
}

func checkWrongSecret(t *testing.T, c Case) {
	if c.Passwords {
		t.Skip("the network has no apps")
	}
	f := New(t, c, 0)
	f.app.ClientSecret = "wrong-secret"
	findings := checker(t, f.Network()).CheckApp(t.Context())
	failures := Findings(findings, network.CheckFailed)
	if len(failures) != 1 || !strings.Contains(failures[0], "secret: ") || !strings.Contains(failures[0], "Compare the app's") {
		t.Errorf("%+v", findings)
	}
	wantNoSecrets(t, findings, "wrong-secret")
}

func checkUnknownToken(t *testing.T, c Case) {
	f := New(t, c, 0)
	for _, kind := range c.kinds() {
		g := f.Connect(kind, Account)
		g.AccessToken = "unknown-token"
		findings := checker(t, f.Network()).CheckAccount(t.Context(), g)
		if failures := Findings(findings, network.CheckFailed); len(failures) != 1 || !strings.Contains(failures[0],
			"Connect the account again") {
			t.Errorf("%s: %+v", kind, findings)
		}
		wantNoSecrets(t, findings, "unknown-token", appSecret)
	}
}

// checkUnreachable checks that no finding is CheckFailed, and some are CheckUnclear, if the network does not respond.
func checkUnreachable(t *testing.T, c Case) {
	s := c.stubAt(t, "http://127.0.0.1:1", network.App{})
	n := checker(t, s.Network)
	findings := append(n.CheckApp(t.Context()), n.CheckAccount(t.Context(), s.Grant)...)
	if failures := Findings(findings, network.CheckFailed); len(failures) > 0 || len(Findings(findings, network.CheckUnclear)) == 0 {
		t.Errorf("%+v", findings)
	}
	wantNoSecrets(t, findings, AccessToken, appSecret)
}

func wantNoSecrets(t *testing.T, findings []network.Finding, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		if text := fmt.Sprintf("%+v", findings); strings.Contains(text, secret) {
			t.Errorf("the findings contain a secret: %s", text)
		}
	}
}

// CheckAccount returns the findings about an account.
func (f *Fixture) CheckAccount(g network.Grant) []network.Finding {
	f.t.Helper()
	return checker(f.t, f.Network()).CheckAccount(f.t.Context(), g)
}

// CheckApp returns the findings about the apps.
func (f *Fixture) CheckApp() []network.Finding {
	f.t.Helper()
	return checker(f.t, f.Network()).CheckApp(f.t.Context())
}

// WantFinding checks that at least one finding with the given result contains all parts.
func WantFinding(t *testing.T, findings []network.Finding, result network.CheckResult, parts ...string) {
	t.Helper()
	for _, finding := range Findings(findings, result) {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(finding, part) }) {
			return
		}
	}
	t.Errorf("no finding %s with %q: %+v", result, parts, findings)
}
