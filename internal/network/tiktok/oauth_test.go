package tiktok_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/tiktok"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts tiktok.Options
		want []string
	}{
		"no app":   {tiktok.Options{}, []string{}},
		"one":      {tiktok.Options{App: network.App{ClientID: "a"}}, []string{""}},
		"business": {tiktok.Options{Business: network.OAuthApp{ClientID: "b"}}, []string{tiktok.Business}},
		"both": {
			tiktok.Options{App: network.App{ClientID: "a"}, Business: network.OAuthApp{ClientID: "b"}}, []string{"", tiktok.Business},
		},
	} {
		if diff := cmp.Diff(c.want, tiktok.New(c.opts).Kinds()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// Each app has a separate consent page.
func TestAuthorize(t *testing.T) {
	t.Parallel()
	n := tiktok.New(tiktok.Options{
		App: network.App{ClientID: "a"}, Business: network.OAuthApp{ClientID: "b", Scopes: []string{"video.publish"}},
	})
	for kind, want := range map[string]url.Values{
		"":              {"client_key": {"a"}, "scope": {strings.Join(defaultScopes, ",")}},
		tiktok.Business: {"client_key": {"b"}, "scope": {"video.publish"}},
	} {
		page, query, _ := strings.Cut(n.Authorize(network.Authorization{Kind: kind, State: "s", Redirect: "https://a.test/back"}), "?")
		got, err := url.ParseQuery(query)
		want["response_type"], want["redirect_uri"], want["state"] = []string{"code"}, []string{"https://a.test/back"}, []string{"s"}
		if diff := cmp.Diff(want, got); diff != "" || err != nil || page != "https://www.tiktok.com/v2/auth/authorize/" {
			t.Errorf("kind %q: %s, %v\n%s", kind, page, err, diff)
		}
	}
}

// A consent without the scope to publish connects no account.
func TestMissingScopes(t *testing.T) {
	t.Parallel()
	// The second set lacks the scope for the user name.
	for code, scopes := range map[string][]string{
		"video.publish": {"user.info.basic"}, "scope_not_authorized": {"user.info.basic", "video.publish"},
	} {
		f := networktest.New(t, adapter, 0)
		f.Scopes(scopes...)
		_, err := f.Exchange("", "mira.keller")
		networktest.WantClass(t, err, network.ReconnectRequired, code)
	}
}

// A code is valid for one app.
func TestCodeOfAnotherApp(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	a := networktest.Authorization("")
	n := f.Network().(*tiktok.Network)
	code := networktest.Consent(t, n.Authorize(a), "mira.keller", "allow").Query().Get("code")
	a.Kind = tiktok.Business
	_, err := n.Exchange(t.Context(), a, code)
	networktest.WantClass(t, err, network.ReconnectRequired, "invalid_grant")
}

// Revoke refreshes an expired access token. A second revocation returns an error.
func TestRevokeLater(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g, n := f.Grant(), f.Network().(*tiktok.Network)
	f.Clock.Advance(3 * time.Hour)
	must.NoError(t, n.Revoke(t.Context(), g))
	_, err := n.Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.ReconnectRequired, "invalid_grant")
	networktest.WantClass(t, n.Revoke(t.Context(), g), network.Rejected, "invalid_grant")
}

// A token response without scopes grants the requested scopes.
func TestTokenWithoutScopes(t *testing.T) {
	t.Parallel()
	g := serve(t, map[string]string{
		"/oauth/token/": `{"access_token":"a","refresh_token":"r","expires_in":7200}`,
		"/user/info/":   success(`{"user":{"open_id":"1","username":"u"}}`),
	})
	n := tiktok.New(tiktok.Options{APIHost: g.Server})
	found, err := n.Exchange(t.Context(), network.Authorization{}, "code")
	if err != nil || len(found) != 1 || !slices.Equal(found[0].Grant.Scopes, defaultScopes) {
		t.Errorf("%+v, %v", found, err)
	}
}
