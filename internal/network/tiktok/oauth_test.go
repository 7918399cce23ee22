package tiktok_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/tiktok"
)

var asked = []string{"user.info.basic", "user.info.profile", "user.info.stats", "video.publish", "video.list"}

func TestConnect(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"", tiktok.Business} {
		t.Run("kind "+kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			a := network.Authorization{Kind: kind, State: "a state & more", Redirect: redirect, Verifier: "not taken"}
			back := w.consent(a, "harbour.coffee", "allow")
			if back.Query().Get("state") != a.State || !strings.HasPrefix(back.String(), redirect+"?") {
				t.Errorf("back to %s", back)
			}
			found, err := w.network().Exchange(t.Context(), a, back.Query().Get("code"))
			if err != nil || len(found) != 1 {
				t.Fatalf("%d candidates, %v", len(found), err)
			}
			g := found[0].Grant
			if g.Access == "" || g.Refresh == "" || g.Account == "" {
				t.Errorf("grant %+v", g)
			}
			want := network.Candidate{DisplayName: "Harbour Coffee", Grant: network.Grant{
				Server: w.url + "/tiktok", Account: g.Account, Username: "harbour.coffee", Access: g.Access, Refresh: g.Refresh, Kind: kind,
				Expires: start.Add(2 * time.Hour), RefreshExpires: start.Add(180 * 24 * time.Hour), Scopes: asked, Holder: "tiktok:" + g.Account,
			}}
			if diff := cmp.Diff(want, found[0]); diff != "" {
				t.Error(diff)
			}
			if _, err := w.network().Refresh(t.Context(), g); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts tiktok.Options
		want []string
	}{
		"no app":   {tiktok.Options{}, []string{}},
		"one":      {tiktok.Options{App: network.App{ClientID: "a"}}, []string{""}},
		"business": {tiktok.Options{Business: tiktok.Client{ClientID: "b"}}, []string{tiktok.Business}},
		"both":     {tiktok.Options{App: network.App{ClientID: "a"}, Business: tiktok.Client{ClientID: "b"}}, []string{"", tiktok.Business}},
	} {
		if diff := cmp.Diff(c.want, tiktok.New(c.opts).Kinds()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// The consent page is asked for by each app in its own name, at today's address.
func TestAuthorize(t *testing.T) {
	t.Parallel()
	n := tiktok.New(tiktok.Options{App: network.App{ClientID: "a"}, Business: tiktok.Client{ClientID: "b", Scopes: []string{"video.publish"}}})
	for kind, want := range map[string]url.Values{
		"":              {"client_key": {"a"}, "scope": {strings.Join(asked, ",")}},
		tiktok.Business: {"client_key": {"b"}, "scope": {"video.publish"}},
	} {
		page, query, _ := strings.Cut(n.Authorize(network.Authorization{Kind: kind, State: "s", Redirect: redirect}), "?")
		got, err := url.ParseQuery(query)
		want["response_type"], want["redirect_uri"], want["state"] = []string{"code"}, []string{redirect}, []string{"s"}
		if diff := cmp.Diff(want, got); diff != "" || err != nil || page != "https://www.tiktok.com/v2/auth/authorize/" {
			t.Errorf("kind %q: %s, %v\n%s", kind, page, err, diff)
		}
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
		if said := networktest.WantClass(t, err, network.AuthDead, "invalid_grant"); strings.Contains(said.Message+said.Error(), code) {
			t.Error("the error holds the code")
		}
	}
	code := func() string { return w.consent(a, "mira.keller", "allow").Query().Get("code") }
	exchange(a, "no-such-code")
	exchange(network.Authorization{Redirect: "https://elsewhere.test/"}, code())
	exchange(network.Authorization{Redirect: redirect, Kind: tiktok.Business}, code())
	used := code()
	if _, err := w.network().Exchange(t.Context(), a, used); err != nil {
		t.Fatal(err)
	}
	exchange(a, used)
	late := code()
	w.clock.Advance(11 * time.Minute)
	exchange(a, late)
}

// A person who takes publishing away on the consent page has connected nothing.
func TestScopesTakenAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	opts := tiktok.Options{
		App:           network.App{ClientID: "app", ClientSecret: "s", Now: w.clock.Now, Scopes: []string{"user.info.basic"}},
		AuthorizeHost: w.url + "/tiktok", APIHost: w.url + "/tiktok",
	}
	a := network.Authorization{State: "s", Redirect: redirect}
	w.wantNoExchange(tiktok.New(opts), a, network.AuthDead)
	opts.Scopes = []string{"user.info.basic", "video.publish"} // the name cannot be read
	w.wantNoExchange(tiktok.New(opts), a, network.AuthDead)
}

func (w *world) wantNoExchange(n *tiktok.Network, a network.Authorization, class network.Class) {
	w.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Get(n.Authorize(a) + "&account=mira.keller&decision=allow")
	if err != nil {
		w.t.Fatal(err)
	}
	response.Body.Close()
	back, err := response.Location()
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = n.Exchange(w.t.Context(), a, back.Query().Get("code"))
	networktest.WantClass(w.t, err, class, "scope_not_authorized")
}

// Each refresh token is good once; the access token that it replaces lives on for its time.
func TestRefresh(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	w.clock.Advance(2 * time.Hour)
	_, _, err := w.network().Prepare(t.Context(), g, w.plan("old", l.jpeg(t, 9, 9)), l)
	networktest.WantClass(t, err, network.AuthRefresh, "access_token_invalid")
	fresh, err := w.network().Refresh(t.Context(), g)
	if err != nil || fresh.Access == g.Access || fresh.Refresh == g.Refresh || fresh.Account != g.Account || !fresh.Expires.Equal(w.clock.Now().Add(2*time.Hour)) {
		t.Fatalf("grant %+v, %v", fresh, err)
	}
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "invalid_grant")
	if _, err := w.network().Commit(t.Context(), fresh, w.prepared(fresh, l, "renewed", l.jpeg(t, 9, 9)), l); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
	w.clock.Advance(180 * 24 * time.Hour)
	_, err = w.network().Refresh(t.Context(), fresh)
	networktest.WantClass(t, err, network.AuthDead, "invalid_grant")
}

func TestDeadTokens(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, l, "dead", l.jpeg(t, 9, 9))
	g.Access, g.Refresh = "no-token", "no-token"
	_, err := w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.AuthRefresh, "access_token_invalid")
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "invalid_grant")
	w.wantHeld(0)
}

// Only what says that a grant is dead ends it.
func TestTokenErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   network.Class
	}{
		"dead":                  {400, `{"error":"invalid_grant"}`, network.AuthDead},
		"dead, with a success":  {200, `{"error":"invalid_grant"}`, network.AuthDead},
		"taken back":            {400, `{"error":"access_denied"}`, network.AuthDead},
		"another app":           {401, `{"error":"invalid_client"}`, network.Unapproved},
		"asked wrongly":         {400, `{"error":"invalid_request"}`, network.Transient},
		"an error of its own":   {500, `{"error":"server_error"}`, network.Transient},
		"throttled":             {429, `slow down`, network.Rate},
		"something on the way":  {502, `<html>`, network.Transient},
		"nothing":               {200, `{}`, network.Transient},
		"nonsense":              {200, `[`, network.Transient},
		"an error of new shape": {400, `{"error":{"code":"invalid_grant"}}`, network.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := at(start).Refresh(t.Context(), said(t, c.status, nil, c.body))
			networktest.WantClass(t, err, c.want, "")
		})
	}
}

// A token endpoint that names no scopes gave those that were asked for.
func TestTokenWithoutScopes(t *testing.T) {
	t.Parallel()
	g := scripted(t, map[string]string{
		"/oauth/token/": `{"access_token":"a","refresh_token":"r","expires_in":7200}`,
		"/user/info/":   well(`{"user":{"open_id":"1","username":"u"}}`),
	})
	n := tiktok.New(tiktok.Options{APIHost: g.Server})
	found, err := n.Exchange(t.Context(), network.Authorization{}, "code")
	if err != nil || len(found) != 1 || !slices.Equal(found[0].Grant.Scopes, asked) {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestNoPasswords(t *testing.T) {
	t.Parallel()
	_, err := tiktok.New(tiktok.Options{}).Connect(t.Context(), network.Credentials{Identifier: "harbour.coffee", Password: "x"})
	networktest.WantClass(t, err, network.Rejected, "")
}
