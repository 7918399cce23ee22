package instagram_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/instagram"
	"pressroom.example/pressroom/internal/network/networktest"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	app, facebook := network.App{ClientID: "1"}, instagram.Facebook{ClientID: "2"}
	for _, c := range []struct {
		opts instagram.Options
		want []string
	}{
		{instagram.Options{}, nil},
		{instagram.Options{App: app}, []string{"instagram"}},
		{instagram.Options{Facebook: facebook}, []string{"facebook"}},
		{instagram.Options{App: app, Facebook: facebook}, []string{"instagram", "facebook"}},
	} {
		if diff := cmp.Diff(c.want, instagram.New(c.opts).Kinds()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestAuthorize checks the URLs of the real network's consent pages.
func TestAuthorize(t *testing.T) {
	t.Parallel()
	n := instagram.New(instagram.Options{App: network.App{ClientID: "1"}, Facebook: instagram.Facebook{ClientID: "2"}})
	for kind, want := range map[string]string{
		"instagram": "https://www.instagram.com/oauth/authorize?client_id=1&redirect_uri=https%3A%2F%2Fa.test%2Fback&response_type=code" +
			"&scope=instagram_business_basic%2Cinstagram_business_content_publish%2Cinstagram_business_manage_insights" +
			"%2Cinstagram_business_manage_comments&state=s",
		"facebook": "https://www.facebook.com/v25.0/dialog/oauth?client_id=2&redirect_uri=https%3A%2F%2Fa.test%2Fback&response_type=code" +
			"&scope=instagram_basic%2Cinstagram_content_publish%2Cinstagram_manage_insights%2Cinstagram_manage_comments%2Cpages_show_list" +
			"%2Cpages_read_engagement%2Cbusiness_management&state=s",
	} {
		if got := n.Authorize(network.Authorization{Kind: kind, State: "s", Redirect: "https://a.test/back"}); got != want {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

// Facebook Login connects one account per Page, each with its own token.
func TestConnectByFacebook(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	direct := f.Grant()
	found := f.Candidates("facebook", "studio.north")
	if len(found) != 3 {
		t.Fatalf("%d candidates", len(found))
	}
	g := found[0].Grant
	if g.Account != direct.Account || g.Extra["user_token"] == "" || g.Extra["user_token"] == g.AccessToken ||
		g.Extra["page"] == "" {
		t.Errorf("grant %+v", g)
	}
	for i, c := range found {
		if c.Grant.Holder != g.Holder || !strings.HasPrefix(g.Holder, "facebook:") {
			t.Errorf("the holder is %q, and %q", c.Grant.Holder, g.Holder)
		}
		f.Publish(c.Grant, f.PrepareUsual(c.Grant, "for "+c.Grant.Username))
		held := f.Posts()
		if len(held) != i+1 || held[i].Account != c.Grant.Username || held[i].Text != "for "+c.Grant.Username {
			t.Errorf("held %+v", held)
		}
	}
}

// No account is connected without the permission to publish.
func TestPublishingNotAllowed(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct{ allowed, missing string }{
		"instagram": {"instagram_business_basic", "instagram_business_content_publish"},
		"facebook":  {"instagram_basic pages_show_list", "instagram_content_publish"},
	} {
		f := networktest.New(t, adapter, 0)
		f.Scopes(strings.Fields(c.allowed)...)
		found, err := f.Exchange(kind, "mira.keller")
		wantMissing(t, err, c.missing)
		if len(found) != 0 {
			t.Errorf("%d candidates", len(found))
		}
	}
}

// wantMissing fails the test unless the error has the missing permission and describes what does not work without it.
func wantMissing(t *testing.T, err error, permission string) {
	t.Helper()
	networktest.WantClass(t, err, network.ReconnectRequired, permission)
	missing, ok := errors.AsType[*network.MissingPermissionError](err)
	if !ok || missing.Permission != permission || missing.Effect == "" {
		t.Errorf("%v", err)
	}
}

// A grant is renewed even if the network does not return its holder.
func TestUnknownHolder(t *testing.T) {
	t.Parallel()
	opts := answers(t, map[string][]string{
		"/refresh_access_token": {`{"access_token":"t","expires_in":5184000}`}, "/v25.0/me": {`{}`},
	})
	g := network.Grant{Kind: "instagram", Server: opts.GraphHost, AccessToken: "old"}
	if fresh, err := instagram.New(opts).Refresh(t.Context(), g); err != nil || fresh.AccessToken != "t" || fresh.Holder != "" {
		t.Errorf("%+v, %v", fresh, err)
	}
}

// Grants of Instagram Login cannot be revoked.
func TestRevokeByInstagram(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	if err := f.Network().(*instagram.Network).Revoke(t.Context(), f.Grant()); !errors.Is(err, network.ErrRevokeUnsupported) {
		t.Error(err)
	}
}

// answers returns options for a server that returns each path's responses in order and repeats the last one.
func answers(t *testing.T, byPath map[string][]string) instagram.Options {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		responses := byPath[r.URL.Path]
		if len(responses) == 0 {
			t.Errorf("requested %s", r.URL.Path)
			return
		}
		if len(responses) > 1 {
			byPath[r.URL.Path] = responses[1:]
		}
		if strings.HasPrefix(responses[0], `{"error"`) {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte(responses[0]))
	}))
	t.Cleanup(front.Close)
	return instagram.Options{
		TokenHost: front.URL, GraphHost: front.URL,
		Facebook: instagram.Facebook{GraphHost: front.URL},
	}
}

// The token response has one format in the documentation and another in practice.
func TestTokenFormats(t *testing.T) {
	t.Parallel()
	const me = `{"id":"5","user_id":"17841400000000001","username":"a","name":"A"}`
	for name, c := range map[string]struct {
		short string
		class network.ErrorClass
	}{
		"a list of permissions": {
			`{"access_token":"short","user_id":17841,
				"permissions":["instagram_business_basic","instagram_business_content_publish"]}`, "",
		},
		"wrapped, one line": {
			`{"data":[{"access_token":"short","user_id":"17841",
				"permissions":"instagram_business_basic,instagram_business_content_publish"}]}`, "",
		},
		"no permissions": {`{"access_token":"short"}`, ""},
		"not allowed":    {`{"access_token":"short","permissions":"instagram_business_basic"}`, network.ReconnectRequired},
		"no token":       {`{"data":[{}]}`, network.Transient},
		"nonsense":       {`{"data":"x"}`, network.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := instagram.New(answers(t, map[string][]string{
				"/oauth/access_token": {c.short}, "/v25.0/me": {me},
				"/access_token": {`{"access_token":"long","expires_in":5183944}`},
			}))
			found, err := n.Exchange(t.Context(), network.Authorization{Kind: "instagram"}, "code")
			if networktest.Class(err) != c.class {
				t.Fatal(err)
			}
			if err == nil && (len(found) != 1 || found[0].Grant.Account != "17841400000000001" ||
				found[0].Grant.AccessToken != "long") {
				t.Errorf("found %+v", found)
			}
		})
	}
}

// Pages are read from several lists, and unusable ones are skipped.
func TestPages(t *testing.T) {
	t.Parallel()
	const (
		tokens = "/v25.0/oauth/access_token"
		more   = `"paging":{"next":"https://elsewhere.test/","cursors":{"after":"x"}}`
		usable = `{"id":"301","access_token":"p","instagram_business_account":{"id":"101","username":"a"}}`
	)
	for name, c := range map[string]struct {
		lists []string
		want  int
	}{
		"none":        {[]string{`{"data":[]}`}, 0},
		"two lists":   {[]string{`{"data":[` + usable + `],` + more + `}`, `{"data":[` + usable + `]}`}, 2},
		"without end": {[]string{`{"data":[` + usable + `],` + more + `}`}, 20},
		"no account":  {[]string{`{"data":[{"id":"301","access_token":"p"}]}`}, 0},
		"no token":    {[]string{`{"data":[{"id":"301","instagram_business_account":{"id":"101","username":"a"}}]}`}, 0},
		"bad ids": {
			[]string{`{"data":[{"id":"../me","access_token":"p",
				"instagram_business_account":{"id":"101","username":"a"}}]}`}, 0,
		},
		"bad accounts": {
			[]string{`{"data":[{"id":"301","access_token":"p",
				"instagram_business_account":{"id":"../me","username":"a"}}]}`}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := instagram.New(answers(t, map[string][]string{
				tokens: {`{"access_token":"t"}`},
				"/v25.0/me/permissions": {
					`{"data":[{"permission":"instagram_content_publish","status":"granted"},
						{"permission":"x","status":"declined"}]}`,
				},
				"/v25.0/me/accounts": c.lists,
				"/v25.0/me":          {`{"id":"7"}`},
			}))
			found, err := n.Exchange(t.Context(), network.Authorization{Kind: "facebook"}, "code")
			if len(found) != c.want || errors.Is(err, network.ErrMoreAccounts) != (c.want == 20) {
				t.Errorf("%d candidates, %v", len(found), err)
			}
			if c.want == 0 { // the account may belong to a portfolio
				wantMissing(t, err, "business_management")
			}
		})
	}
}

// A person without an Instagram account cannot connect one, even with all permissions.
func TestNoAccount(t *testing.T) {
	t.Parallel()
	n := instagram.New(answers(t, map[string][]string{
		"/v25.0/oauth/access_token": {`{"access_token":"t"}`}, "/v25.0/me": {`{"id":"7"}`},
		"/v25.0/me/permissions": {`{"data":[{"permission":"instagram_content_publish","status":"granted"},
			{"permission":"business_management","status":"granted"}]}`},
		"/v25.0/me/accounts": {`{"data":[]}`}, "/v25.0/me/businesses": {`{"data":[]}`},
	}))
	found, err := n.Exchange(t.Context(), network.Authorization{Kind: "facebook"}, "code")
	if err != nil || len(found) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// A declined permission does not count as granted.
func TestDeclinedPermission(t *testing.T) {
	t.Parallel()
	n := instagram.New(answers(t, map[string][]string{
		"/v25.0/oauth/access_token": {`{"access_token":"t"}`},
		"/v25.0/me/permissions":     {`{"data":[{"permission":"instagram_content_publish","status":"declined"}]}`},
	}))
	_, err := n.Exchange(t.Context(), network.Authorization{Kind: "facebook"}, "code")
	wantMissing(t, err, "instagram_content_publish")
}

// A person who no longer has a role on a Page has to reconnect. A grant without a Page is invalid.
func TestRefreshWithoutPage(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]network.ErrorClass{
		`{"id":"301"}`: network.ReconnectRequired,
		`{"error":{"code":100,"error_subcode":33,"message":"Unsupported get request."}}`: network.ReconnectRequired,
		`{"error":{"code":2}}`: network.Transient,
	} {
		opts := answers(t, map[string][]string{
			"/v25.0/oauth/access_token": {`{"access_token":"t"}`}, "/v25.0/301": {answer}, "/v25.0/me": {`{"id":"7"}`},
		})
		g := network.Grant{Kind: "facebook", Server: opts.GraphHost, Extra: map[string]string{"page": "301", "user_token": "u"}}
		_, err := instagram.New(opts).Refresh(t.Context(), g)
		networktest.WantClass(t, err, want, "")
		g.Extra = nil
		_, err = instagram.New(opts).Refresh(t.Context(), g)
		networktest.WantClass(t, err, network.Rejected, "")
	}
}
