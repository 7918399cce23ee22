package youtube_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/youtube"
)

func TestAuthorize(t *testing.T) {
	t.Parallel()
	n := youtube.New(youtube.Options{App: network.App{ClientID: "app"}})
	address, query, _ := strings.Cut(n.Authorize(network.Authorization{State: "s", Redirect: redirect, Verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"}), "?")
	got, err := url.ParseQuery(query)
	want := url.Values{
		"client_id": {"app"}, "redirect_uri": {redirect}, "response_type": {"code"}, "state": {"s"}, "access_type": {"offline"}, "prompt": {"consent"},
		"scope":          {"https://www.googleapis.com/auth/youtube.upload https://www.googleapis.com/auth/youtube.readonly https://www.googleapis.com/auth/yt-analytics.readonly"},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"}, // RFC 7636, appendix B
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" || address != "https://accounts.google.com/o/oauth2/v2/auth" {
		t.Errorf("%s: %v\n%s", address, err, diff)
	}
}

func TestConnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := network.Authorization{State: "a state & more", Redirect: redirect, Verifier: verifier}
	back := w.consent(a, "harbour.coffee", "allow")
	if back.Query().Get("state") != a.State || !strings.HasPrefix(back.String(), redirect+"?") {
		t.Errorf("back to %s", back)
	}
	found, err := w.network().Exchange(t.Context(), a, back.Query().Get("code"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d candidates, %v", len(found), err)
	}
	g := found[0].Grant
	if g.Access == "" || g.Refresh == "" || !strings.HasPrefix(g.Account, "UC") {
		t.Errorf("grant %+v", g)
	}
	want := network.Candidate{DisplayName: "Harbour Coffee", Grant: network.Grant{
		Server: w.url + "/youtube", Account: g.Account, Username: "harbour.coffee", Access: g.Access, Refresh: g.Refresh, Expires: start.Add(time.Hour),
		Scopes: []string{"https://www.googleapis.com/auth/youtube.upload", "https://www.googleapis.com/auth/youtube.readonly", "https://www.googleapis.com/auth/yt-analytics.readonly"},
		Holder: "youtube:" + g.Account,
	}}
	if diff := cmp.Diff(want, found[0]); diff != "" {
		t.Error(diff)
	}
}

func TestDenied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	back := w.consent(network.Authorization{State: "s", Redirect: redirect}, "harbour.coffee", "deny").Query()
	if back.Get("error") != "access_denied" || back.Get("state") != "s" || back.Has("code") {
		t.Errorf("back with %v", back)
	}
}

func TestBadCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := network.Authorization{State: "s", Redirect: redirect, Verifier: verifier}
	exchange := func(a network.Authorization, code string) {
		t.Helper()
		_, err := w.network().Exchange(t.Context(), a, code)
		if said := networktest.WantClass(t, err, network.AuthDead, "invalid_grant"); strings.Contains(said.Message+said.Error(), code) {
			t.Error("the error holds the code")
		}
	}
	code := func() string { return w.consent(a, "mira.keller", "allow").Query().Get("code") }
	exchange(a, "no-such-code")
	exchange(network.Authorization{Redirect: "https://elsewhere.test/", Verifier: verifier}, code())
	exchange(network.Authorization{Redirect: redirect, Verifier: "another"}, code())
	exchange(network.Authorization{Redirect: redirect}, code())
	used := code()
	if _, err := w.network().Exchange(t.Context(), a, used); err != nil {
		t.Fatal(err)
	}
	exchange(a, used)
	late := code()
	w.clock.Advance(11 * time.Minute)
	exchange(a, late)
}

// The access token lives an hour and the refresh token stays; a publication goes on with the next one.
func TestRefresh(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "renewed", l)
	w.clock.Advance(time.Hour)
	_, _, err := w.network().Prepare(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.AuthRefresh, "authError")
	_, err = w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.AuthRefresh, "authError")
	_, _, err = w.network().Resolve(t.Context(), g, d, network.Tried{})
	networktest.WantClass(t, err, network.AuthRefresh, "authError")
	fresh, err := w.network().Refresh(t.Context(), g)
	want := g
	want.Access, want.Expires = fresh.Access, w.clock.Now().Add(time.Hour)
	if diff := cmp.Diff(want, fresh); err != nil || diff != "" || fresh.Access == g.Access {
		t.Fatalf("%v\n%s", err, diff)
	}
	w.commit(fresh, d, l)
	w.wantHeld(1)
}

func TestDeadRefreshTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.connect("harbour.coffee")
	n := w.network()
	w.clock.Advance(179 * 24 * time.Hour)
	if _, err := n.Refresh(t.Context(), g); err != nil {
		t.Errorf("used in time: %v", err)
	}
	w.clock.Advance(180 * 24 * time.Hour)
	_, err := n.Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "invalid_grant")
	_, err = n.Refresh(t.Context(), network.Grant{Access: g.Access})
	networktest.WantClass(t, err, network.AuthDead, "no_refresh_token")
}

// Only one answer of the token endpoint means that a grant is dead.
func TestTokenErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		class  network.Class
	}{
		"revoked":        {http.StatusBadRequest, `{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`, network.AuthDead},
		"the app":        {http.StatusUnauthorized, `{"error":"invalid_client"}`, network.Transient},
		"Google's other": {http.StatusForbidden, `{"error":{"code":403,"message":"x"}}`, network.Transient},
		"an outage":      {http.StatusServiceUnavailable, `<html>`, network.Transient},
		"no token":       {http.StatusOK, `{}`, network.Transient},
		"nonsense":       {http.StatusOK, `[`, network.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := said(t, c.status, nil, c.body)
			n := youtube.New(youtube.Options{TokenHost: url})
			_, err := n.Refresh(t.Context(), network.Grant{Refresh: "top-secret"})
			networktest.WantClass(t, err, c.class, "")
			_, err = n.Exchange(t.Context(), network.Authorization{}, "code")
			networktest.WantClass(t, err, c.class, "")
		})
	}
}

func TestChannels(t *testing.T) {
	t.Parallel()
	const one, two = `{"id":"UC1a","snippet":{"title":"First","customUrl":"@one"}}`, `{"id":"UC2b","snippet":{"title":"Two"}}`
	for name, c := range map[string]struct {
		answer string
		want   []string
		class  network.Class
	}{
		"several":   {`{"items":[` + one + `,` + two + `]}`, []string{"UC1a/one/First", "UC2b/Two/Two"}, ""},
		"none":      {`{"items":[]}`, nil, network.Rejected},
		"no id":     {`{"items":[{"snippet":{"title":"x"}}]}`, nil, network.Transient},
		"no name":   {`{"items":[{"id":"UC1a"}]}`, nil, network.Transient},
		"no scope":  {`{"error":{"code":403,"errors":[{"reason":"insufficientPermissions"}]}}`, nil, network.AuthDead},
		"no signup": {`{"error":{"code":401,"errors":[{"reason":"youtubeSignupRequired"}]}}`, nil, network.AuthDead},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := scripted(t, func(r *http.Request) (int, string) {
				if r.URL.Path == "/token" {
					return http.StatusOK, `{"access_token":"a","refresh_token":"r","expires_in":3599,"scope":"youtube.upload"}`
				}
				if c.class == network.AuthDead {
					return http.StatusForbidden, c.answer
				}
				return http.StatusOK, c.answer
			})
			found, err := youtube.New(youtube.Options{TokenHost: url, APIHost: url}).Exchange(t.Context(), network.Authorization{}, "code")
			if c.class != "" {
				networktest.WantClass(t, err, c.class, "")
				return
			}
			var got []string
			for _, f := range found {
				got = append(got, f.Grant.Account+"/"+f.Grant.Username+"/"+f.DisplayName)
				if f.Grant.Refresh != "r" || len(f.Grant.Scopes) != 1 || err != nil {
					t.Errorf("%+v, %v", f.Grant, err)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNoPasswords(t *testing.T) {
	t.Parallel()
	_, err := youtube.New(youtube.Options{}).Connect(t.Context(), network.Credentials{Identifier: "harbour.coffee", Password: "x"})
	networktest.WantClass(t, err, network.Rejected, "")
}
