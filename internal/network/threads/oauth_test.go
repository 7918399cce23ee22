package threads_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

func TestConnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	a := network.Authorization{State: "a state & more", Redirect: redirect}
	back := w.consent(a, "harbour.coffee", "allow")
	if back.Query().Get("state") != a.State || !strings.HasPrefix(back.String(), redirect+"?") {
		t.Errorf("back to %s", back)
	}
	found, err := w.network().Exchange(t.Context(), a, back.Query().Get("code")+"#_")
	if err != nil || len(found) != 1 {
		t.Fatalf("%d candidates, %v", len(found), err)
	}
	g := found[0].Grant
	if g.Access == "" || len(g.Account) < 5 {
		t.Errorf("grant %+v", g)
	}
	want := network.Candidate{DisplayName: "Harbour Coffee", Grant: network.Grant{
		Server: w.url + "/threads", Account: g.Account, Username: "harbour.coffee", Access: g.Access, Expires: start.Add(60 * 24 * time.Hour),
		Scopes: []string{"threads_basic", "threads_content_publish", "threads_manage_insights"}, Extra: map[string]string{"issued_at": "2026-11-21T09:30:00Z"},
		Holder: "threads:" + g.Account,
	}}
	if diff := cmp.Diff(want, found[0]); diff != "" {
		t.Error(diff)
	}
}

func TestDenied(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	back := w.consent(network.Authorization{State: "s", Redirect: redirect}, "harbour.coffee", "deny").Query()
	if back.Get("error") != "access_denied" || back.Get("state") != "s" || back.Has("code") {
		t.Errorf("back with %v", back)
	}
}

func TestBadCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	a := network.Authorization{State: "s", Redirect: redirect}
	exchange := func(a network.Authorization, code string) {
		t.Helper()
		_, err := w.network().Exchange(t.Context(), a, code)
		if said := networktest.WantClass(t, err, network.AuthDead, "100"); strings.Contains(said.Message+said.Error(), code) {
			t.Error("the error holds the code")
		}
	}
	code := func() string { return w.consent(a, "mira.keller", "allow").Query().Get("code") }
	exchange(a, "no-such-code")
	exchange(network.Authorization{Redirect: "https://elsewhere.test/"}, code())
	used := code()
	if _, err := w.network().Exchange(t.Context(), a, used); err != nil {
		t.Fatal(err)
	}
	exchange(a, used)
	late := code()
	w.clock.Advance(11 * time.Minute)
	exchange(a, late)
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	w.clock.Advance(23 * time.Hour)
	young, err := w.network().Refresh(t.Context(), g)
	if diff := cmp.Diff(g, young); err != nil || diff != "" {
		t.Fatalf("a young token: %v\n%s", err, diff)
	}
	unknown := g
	unknown.Holder = ""
	if young, err = w.network().Refresh(t.Context(), unknown); err != nil || young.Holder != g.Holder {
		t.Errorf("the holder is %q, %v", young.Holder, err)
	}
	w.clock.Advance(58 * 24 * time.Hour)
	fresh, err := w.network().Refresh(t.Context(), g)
	if err != nil || fresh.Access == g.Access || fresh.Account != g.Account || !fresh.Expires.Equal(w.clock.Now().Add(60*24*time.Hour)) {
		t.Fatalf("grant %+v, %v", fresh, err)
	}
	w.clock.Advance(3 * 24 * time.Hour)
	if _, err := w.network().Commit(t.Context(), fresh, w.prepared(fresh, "renewed"), nil); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "190/463")
}

// A grant of which nobody noted when its token was made is left to the network to judge.
func TestRefreshWithoutAge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	g.Extra = maps.Clone(g.Extra)
	delete(g.Extra, "issued_at")
	w.clock.Advance(25 * time.Hour)
	if _, err := w.network().Refresh(t.Context(), g); err != nil {
		t.Error(err)
	}
}

func TestDeadTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "dead")
	w.clock.Advance(61 * 24 * time.Hour)
	_, err := w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.AuthDead, "190/463")
	g.Access = "no-token"
	_, _, err = w.network().Prepare(t.Context(), g, w.plan("dead"), nil)
	networktest.WantClass(t, err, network.AuthDead, "190")
	w.wantHeld(0)
}

func TestNoPasswords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	_, err := w.network().Connect(t.Context(), network.Credentials{Identifier: "harbour.coffee", Password: "x"})
	networktest.WantClass(t, err, network.Rejected, "")
}
