package networktest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
)

func testSigning(t *testing.T, c Case) {
	subtests(t, c,
		map[string]func(*testing.T, Case){
			"NoPasswords": checkNoPasswords, "ConnectingAgain": reconnect, "UnknownToken": useUnknownToken,
			"Revoke": revoke,
		})
	tests := map[string]func(*testing.T, Case, string){
		"Connect": connect, "Denied": deny, "BadCodes": exchangeBadCodes, "Refresh": refresh, "Recent": refreshRecent,
	}
	if c.Passwords {
		tests = map[string]func(*testing.T, Case, string){"Refresh": refresh}
	}
	for _, kind := range c.kinds() {
		for name, test := range tests {
			t.Run(strings.TrimSpace(name+" "+kind), func(t *testing.T) {
				t.Parallel()
				test(t, c, kind)
			})
		}
	}
}

func connect(t *testing.T, c Case, kind string) {
	f := New(t, c, 0)
	a := Authorization(kind)
	a.State = "a state & more"
	back := f.consent(a, Account, "allow")
	if back.Query().Get("state") != a.State || !strings.HasPrefix(back.String(), redirect+"?") {
		t.Errorf("back to %s", back)
	}
	candidates, err := f.authorizer().Exchange(t.Context(), a, back.Query().Get("code")+c.CodeSuffix)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Candidates(candidates, f.URL, kind), candidates); diff != "" {
		t.Error(diff)
	}
	for _, candidate := range candidates {
		if g := candidate.Grant; g.AccessToken == "" || len(g.Account) < 5 || strings.Contains(g.Account, Account) {
			t.Errorf("grant %+v", g)
		}
	}
}

func deny(t *testing.T, c Case, kind string) {
	f := New(t, c, 0)
	back := f.consent(Authorization(kind), Account, "deny").Query()
	if back.Get("error") != "access_denied" || back.Get("state") != "s" || back.Has("code") {
		t.Errorf("back with %v", back)
	}
}

// exchangeBadCodes exchanges authorization codes that are unknown, used, expired, or issued for another redirect URL or
// verifier.
func exchangeBadCodes(t *testing.T, c Case, kind string) {
	f := New(t, c, 0)
	valid := Authorization(kind)
	wantRejected := func(a network.Authorization, code string) {
		t.Helper()
		_, err := f.authorizer().Exchange(t.Context(), a, code)
		netErr := WantClass(t, err, network.ReconnectRequired, c.BadCode)
		if strings.Contains(netErr.Message+netErr.Error(), code) {
			t.Error("the error has the code")
		}
	}
	code := func() string { return f.consent(valid, "mira.keller", "allow").Query().Get("code") }
	wantRejected(valid, "no-such-code")
	invalid := valid
	invalid.Redirect = "https://elsewhere.test/"
	wantRejected(invalid, code())
	if c.PKCE {
		invalid = valid
		invalid.Verifier = "another"
		wantRejected(invalid, code())
		invalid.Verifier = ""
		wantRejected(invalid, code())
	}
	usedCode := code()
	if _, err := f.authorizer().Exchange(t.Context(), valid, usedCode); err != nil {
		t.Fatal(err)
	}
	wantRejected(valid, usedCode)
	expiredCode := code()
	f.Clock.Advance(c.CodeLifetime + time.Second)
	wantRejected(valid, expiredCode)
}

func checkNoPasswords(t *testing.T, c Case) {
	if c.Passwords {
		return
	}
	n := c.New("https://network.test", network.App{})
	_, err := n.Connect(t.Context(), network.Credentials{Identifier: Account, Password: "x"})
	_ = WantClass(t, err, network.Rejected, "")
}

// refresh refreshes a grant, publishes with the new grant, and checks both grants after they have expired.
func refresh(t *testing.T, c Case, kind string) {
	f := New(t, c, 0)
	g := f.Connect(kind, Account)
	d := f.PrepareUsual(g, "renewed")
	f.Clock.Advance(c.RefreshAge)
	if c.ExpiredTokenError.Class != "" {
		_, err := f.Commit(g, d)
		_ = WantClass(t, err, c.ExpiredTokenError.Class, c.ExpiredTokenError.Code)
		_, _, err = f.Resolve(g, d)
		if c.ResolveNeedsToken {
			_ = WantClass(t, err, c.ExpiredTokenError.Class, c.ExpiredTokenError.Code)
		}
	}
	refreshed := f.Renew(g)
	want := g
	want.AccessToken, want.RefreshToken, want.Expires, want.RefreshExpires, want.Extra = refreshed.AccessToken,
		refreshed.RefreshToken,
		f.Clock.Now().Add(c.TokenLifetime), refreshed.RefreshExpires, refreshed.Extra
	if c.TokenLifetime == 0 {
		want.Expires = g.Expires
	}
	if diff := cmp.Diff(want, refreshed); diff != "" || refreshed.AccessToken == g.AccessToken ||
		(refreshed.RefreshToken != g.RefreshToken) != (c.SingleUseRefreshToken || c.RotatesRefresh) {
		t.Errorf("grant %+v\n%s", refreshed, diff)
	}
	if c.SingleUseRefreshToken && c.ExpiredRefresh != "" {
		_, err := f.Network().Refresh(t.Context(), g)
		_ = WantClass(t, err, network.ReconnectRequired, c.ExpiredRefresh)
	}
	f.Publish(refreshed, f.PrepareUsual(refreshed, "renewed"))
	f.WantPosts(1)
	if g.RefreshToken != "" {
		withoutRefreshToken := g
		withoutRefreshToken.RefreshToken = ""
		_, err := f.Network().Refresh(t.Context(), withoutRefreshToken)
		_ = WantClass(t, err, network.ReconnectRequired, "")
	}
	if c.GrantLifetime > 0 {
		f.Clock.Advance(c.GrantLifetime)
		_, err := f.Network().Refresh(t.Context(), refreshed)
		_ = WantClass(t, err, network.ReconnectRequired, c.ExpiredRefresh)
	}
}

// refreshRecent refreshes a token that is too recent to be refreshed. The grant must not change, except that a missing
// Holder is set.
func refreshRecent(t *testing.T, c Case, kind string) {
	if c.MinRefreshAge == 0 {
		return
	}
	f := New(t, c, 0)
	g := f.Connect(kind, Account)
	f.Clock.Advance(c.MinRefreshAge - time.Hour)
	if diff := cmp.Diff(g, f.Renew(g)); diff != "" {
		t.Error(diff)
	}
	unknown := g
	unknown.Holder = ""
	for range 2 {
		if refreshed := f.Renew(unknown); refreshed.Holder != g.Holder || refreshed.Account != g.Account {
			t.Errorf("the holder is %q, want %q", refreshed.Holder, g.Holder)
		}
		f.Clock.Advance(48 * time.Hour)
	}
}

func useUnknownToken(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	d := f.PrepareUsual(g, "never")
	g.AccessToken = "no-token"
	_, err := f.Commit(g, d)
	_ = WantClass(t, err, c.UnknownTokenError.Class, c.UnknownTokenError.Code)
	f.WantPosts(0)
	if collector, ok := f.Network().(network.Collector); ok {
		_, err = collector.Collect(t.Context(), g, Start, 10)
		_ = WantClass(t, err, c.UnknownTokenError.Class, c.UnknownTokenError.Code)
	}
}

// reconnect makes the sandbox revoke a grant. Reconnecting the account restores access, but a refresh does not.
func reconnect(t *testing.T, c Case) {
	for _, kind := range c.kinds() {
		f := New(t, c, 0)
		g := f.Connect(kind, Account)
		f.Clock.Advance(c.MinRefreshAge + time.Minute)
		text := "[sandbox:expired-token]"
		d, err := f.Prepare(g, f.Plan(text, f.Media()...))
		if err == nil {
			_, err = f.Commit(g, d)
		}
		want := c.ExpiredTokenError
		if want.Class == "" {
			want = ExpectedError{network.ReconnectRequired, c.ExpiredRefresh}
		}
		_ = WantClass(t, err, want.Class, "")
		_, err = f.Network().Refresh(t.Context(), g)
		_ = WantClass(t, err, network.ReconnectRequired, c.ExpiredRefresh)
		g = f.Connect(kind, Account)
		f.Publish(g, f.PrepareUsual(g, text))
		f.WantPosts(1)
	}
}

// revoke revokes a grant. Grants of other accounts remain valid, and a second revocation fails.
func revoke(t *testing.T, c Case) {
	f := New(t, c, 0)
	revoker, ok := f.Network().(network.Revoker)
	if !ok || c.RevokedCode == "" {
		return
	}
	kind := c.kinds()[len(c.kinds())-1]
	g, secondGrant, otherGrant := f.Connect(kind, Account), f.Connect(kind, Account), f.Connect(kind, "mira.keller")
	if err := revoker.Revoke(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	f.Clock.Advance(c.MinRefreshAge + time.Minute)
	_, err := f.Network().Refresh(t.Context(), g)
	_ = WantClass(t, err, network.ReconnectRequired, c.RevokedCode)
	if err = revoker.Revoke(t.Context(), g); Class(err) != c.SecondRevocation {
		t.Errorf("once more: %v", err)
	}
	if _, err = f.Network().Refresh(t.Context(), secondGrant); (err == nil) != (secondGrant.Holder == "") {
		t.Errorf("another grant of the same person: %v", err)
	}
	f.Renew(otherGrant)
	f.Transport.LoseResponseTo("/")
	if err := revoker.Revoke(t.Context(), otherGrant); Class(err) != network.Transient {
		t.Errorf("without a response: %v", err)
	}
	if otherGrant.Holder != "" {
		otherGrant.Holder = ""
		if err := revoker.Revoke(t.Context(), otherGrant); !errors.Is(err, network.ErrRevokeUnsupported) {
			t.Errorf("without a holder: %v", err)
		}
	}
}
