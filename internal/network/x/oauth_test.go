package x_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/x"
)

func TestConnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	a := authorization()
	a.State = "a state & more"
	back := w.consent(a, "harbour.coffee", "allow")
	if back.Query().Get("state") != a.State || !strings.HasPrefix(back.String(), redirect+"?") {
		t.Errorf("back to %s", back)
	}
	found, err := w.network().Exchange(t.Context(), a, back.Query().Get("code"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d candidates, %v", len(found), err)
	}
	g := found[0].Grant
	if g.Access == "" || g.Refresh == "" || len(g.Account) < 5 {
		t.Errorf("grant %+v", g)
	}
	want := network.Candidate{DisplayName: "Harbour Coffee", Grant: network.Grant{
		Server: w.url + "/x", Account: g.Account, Username: "harbour.coffee", Access: g.Access, Refresh: g.Refresh, Expires: start.Add(2 * time.Hour),
		Scopes: []string{"tweet.read", "tweet.write", "users.read", "media.write", "offline.access"},
	}}
	if diff := cmp.Diff(want, found[0]); diff != "" {
		t.Error(diff)
	}
}

// An app without a secret names itself in the form.
func TestPublicClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	n := x.New(x.Options{App: network.App{ClientID: "app", Now: w.clock.Now}, APIHost: w.url + "/x"})
	found, err := n.Exchange(t.Context(), authorization(), w.consent(authorization(), "mira.keller", "allow").Query().Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Refresh(t.Context(), found[0].Grant); err != nil {
		t.Error(err)
	}
}

func TestDenied(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	back := w.consent(authorization(), "harbour.coffee", "deny").Query()
	if back.Get("error") != "access_denied" || back.Get("state") != "s" || back.Has("code") {
		t.Errorf("back with %v", back)
	}
}

func TestBadCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	exchange := func(change func(*network.Authorization), code string) {
		t.Helper()
		a := authorization()
		change(&a)
		_, err := w.network().Exchange(t.Context(), a, code)
		if said := networktest.WantClass(t, err, network.AuthDead, "invalid_request"); strings.Contains(said.Message+said.Error(), code) {
			t.Error("the error holds the code")
		}
	}
	same := func(*network.Authorization) {}
	code := func() string { return w.consent(authorization(), "mira.keller", "allow").Query().Get("code") }
	exchange(same, "no-such-code")
	exchange(func(a *network.Authorization) { a.Redirect = "https://elsewhere.test/" }, code())
	exchange(func(a *network.Authorization) { a.Verifier = "another" }, code())
	used := code()
	if _, err := w.network().Exchange(t.Context(), authorization(), used); err != nil {
		t.Fatal(err)
	}
	exchange(same, used)
	late := code()
	w.clock.Advance(31 * time.Second)
	exchange(same, late)
}

// An expired token is renewed, and the refresh token is good once.
func TestRefresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	w.clock.Advance(3 * time.Hour)
	d := w.prepared(g, "renewed")
	_, err := w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.AuthRefresh, "")
	fresh, err := w.network().Refresh(t.Context(), g)
	if err != nil || fresh.Access == g.Access || fresh.Refresh == g.Refresh || fresh.Account != g.Account || !fresh.Expires.Equal(w.clock.Now().Add(2*time.Hour)) {
		t.Fatalf("grant %+v, %v", fresh, err)
	}
	if _, err := w.network().Commit(t.Context(), fresh, d, nil); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "invalid_request")
	g.Refresh = ""
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "")
}

func TestNoPasswords(t *testing.T) {
	t.Parallel()
	_, err := x.New(x.Options{}).Connect(t.Context(), network.Credentials{Identifier: "harbour.coffee", Password: "x"})
	networktest.WantClass(t, err, network.Rejected, "")
}
