package instagram_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/instagram"
	"pressroom/internal/network/networktest"
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

// Where a person is sent by the real network's addresses.
func TestAuthorize(t *testing.T) {
	t.Parallel()
	n := instagram.New(instagram.Options{App: network.App{ClientID: "1"}, Facebook: instagram.Facebook{ClientID: "2"}})
	for kind, want := range map[string]string{
		"instagram": "https://www.instagram.com/oauth/authorize?client_id=1&redirect_uri=https%3A%2F%2Fa.test%2Fback&response_type=code" +
			"&scope=instagram_business_basic%2Cinstagram_business_content_publish%2Cinstagram_business_manage_insights&state=s",
		"facebook": "https://www.facebook.com/v25.0/dialog/oauth?client_id=2&redirect_uri=https%3A%2F%2Fa.test%2Fback&response_type=code" +
			"&scope=instagram_basic%2Cinstagram_content_publish%2Cinstagram_manage_insights%2Cpages_show_list%2Cpages_read_engagement%2Cbusiness_management&state=s",
	} {
		if got := n.Authorize(network.Authorization{Kind: kind, State: "s", Redirect: "https://a.test/back"}); got != want {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

func TestConnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	a := network.Authorization{Kind: "instagram", State: "a state & more", Redirect: redirect}
	back := w.consent(a, "harbour.coffee", "allow")
	if back.Query().Get("state") != a.State || !strings.HasPrefix(back.String(), redirect+"?") {
		t.Errorf("back to %s", back)
	}
	found, err := w.network().Exchange(t.Context(), a, back.Query().Get("code")+"#_")
	if err != nil || len(found) != 1 {
		t.Fatalf("%d candidates, %v", len(found), err)
	}
	g := found[0].Grant
	if g.Access == "" || len(g.Account) < 5 || len(g.Holder) < 15 || g.Holder == "instagram:"+g.Account {
		t.Errorf("grant %+v", g)
	}
	want := network.Candidate{DisplayName: "Harbour Coffee", Grant: network.Grant{
		Server: w.url + "/instagram/graph", Kind: "instagram", Account: g.Account, Username: "harbour.coffee", Access: g.Access,
		Expires: start.Add(60 * 24 * time.Hour), Scopes: []string{"instagram_business_basic", "instagram_business_content_publish", "instagram_business_manage_insights"},
		Extra: map[string]string{"issued_at": "2026-11-21T09:30:00Z"}, Holder: g.Holder,
	}}
	if diff := cmp.Diff(want, found[0]); diff != "" {
		t.Error(diff)
	}
}

// With Facebook Login each Page with an account gives one, under a token of its own.
func TestConnectByFacebook(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	direct := w.harbour()
	a := network.Authorization{Kind: "facebook", State: "s", Redirect: redirect}
	found, err := w.network().Exchange(t.Context(), a, w.consent(a, "studio.north", "allow").Query().Get("code")+"#_")
	if err != nil || len(found) != 3 {
		t.Fatalf("%d candidates, %v", len(found), err)
	}
	g := found[0].Grant
	want := network.Candidate{DisplayName: "Harbour Coffee", Grant: network.Grant{
		Server: w.url + "/instagram/facebook", Kind: "facebook", Account: direct.Account, Username: "harbour.coffee", Access: g.Access,
		Expires: start.Add(60 * 24 * time.Hour), Extra: g.Extra, Holder: g.Holder,
		Scopes: []string{"instagram_basic", "instagram_content_publish", "instagram_manage_insights", "pages_show_list", "pages_read_engagement", "business_management"},
	}}
	if diff := cmp.Diff(want, found[0]); diff != "" {
		t.Error(diff)
	}
	if g.Extra["user_token"] == "" || g.Extra["user_token"] == g.Access || g.Extra["page"] == "" || g.Extra["issued_at"] != "2026-11-21T09:30:00Z" {
		t.Errorf("extra %v", g.Extra)
	}
	for _, c := range found {
		if c.Grant.Holder != g.Holder || !strings.HasPrefix(g.Holder, "facebook:") {
			t.Errorf("the holder is %q, and %q", c.Grant.Holder, g.Holder)
		}
		if _, err := w.network().Commit(t.Context(), c.Grant, w.prepared(c.Grant, l, "for "+c.Grant.Username), nil); err != nil {
			t.Error(err)
		}
	}
	for i, p := range w.held() {
		if p.Account != found[i].Grant.Username || p.Text != "for "+p.Account {
			t.Errorf("held %+v", p)
		}
	}
	w.wantHeld(3)
}

func TestDenied(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	for _, kind := range kinds {
		back := w.consent(network.Authorization{Kind: kind, State: "s", Redirect: redirect}, "harbour.coffee", "deny").Query()
		if back.Get("error") != "access_denied" || back.Get("state") != "s" || back.Has("code") {
			t.Errorf("back with %v", back)
		}
	}
}

func TestBadCodes(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		w := newWorld(t, 0)
		a := network.Authorization{Kind: kind, State: "s", Redirect: redirect}
		exchange := func(a network.Authorization, code string) {
			t.Helper()
			_, err := w.network().Exchange(t.Context(), a, code)
			if said := networktest.WantClass(t, err, network.AuthDead, "100"); strings.Contains(said.Message+said.Error(), code) {
				t.Error("the error holds the code")
			}
		}
		code := func() string { return w.consent(a, "mira.keller", "allow").Query().Get("code") }
		exchange(a, "no-such-code")
		exchange(network.Authorization{Kind: kind, Redirect: "https://elsewhere.test/"}, code())
		used := code()
		if _, err := w.network().Exchange(t.Context(), a, used); err != nil {
			t.Fatal(err)
		}
		exchange(a, used)
		late := code()
		w.clock.Advance(11 * time.Minute)
		exchange(a, late)
	}
}

// Who unticks publishing is told so, and no account is connected that cannot be published to.
func TestPublishingNotAllowed(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		w := newWorld(t, 0)
		opts := w.options()
		opts.Scopes, opts.Facebook.Scopes = []string{"instagram_business_basic"}, []string{"instagram_basic", "pages_show_list"}
		n := instagram.New(opts)
		a := network.Authorization{Kind: kind, State: "s", Redirect: redirect}
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		response, err := client.Get(n.Authorize(a) + "&account=mira.keller&decision=allow")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		back, _ := url.Parse(response.Header.Get("Location"))
		found, err := n.Exchange(t.Context(), a, back.Query().Get("code"))
		if networktest.WantClass(t, err, network.AuthDead, "permission_missing"); len(found) != 0 {
			t.Errorf("%d candidates", len(found))
		}
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		w, l := newWorld(t, 0), newLibrary(t)
		g := w.connect(kind, "harbour.coffee")
		w.clock.Advance(23 * time.Hour)
		young, err := w.network().Refresh(t.Context(), g)
		if diff := cmp.Diff(g, young); err != nil || diff != "" {
			t.Fatalf("a young token: %v\n%s", err, diff)
		}
		w.clock.Advance(58 * 24 * time.Hour)
		fresh, err := w.network().Refresh(t.Context(), g)
		if err != nil || fresh.Access == g.Access || fresh.Account != g.Account || !fresh.Expires.Equal(w.clock.Now().Add(60*24*time.Hour)) {
			t.Fatalf("grant %+v, %v", fresh, err)
		}
		if kind == "facebook" && (fresh.Extra["user_token"] == g.Extra["user_token"] || fresh.Extra["page"] != g.Extra["page"]) {
			t.Errorf("extra %v", fresh.Extra)
		}
		w.clock.Advance(3 * 24 * time.Hour)
		if _, err := w.network().Commit(t.Context(), fresh, w.prepared(fresh, l, "renewed"), nil); err != nil {
			t.Error(err)
		}
		w.wantHeld(1)
		_, err = w.network().Refresh(t.Context(), g)
		networktest.WantClass(t, err, network.AuthDead, "190/463")
		if _, err := w.network().Refresh(t.Context(), fresh); err != nil {
			t.Error(err)
		}
	}
}

// Whose permission a grant is that was made before that was noted is learnt as soon as it is to be renewed, also of one that
// is too young for it. A network that does not tell keeps no grant from being renewed.
func TestHolderIsLearnt(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		w := newWorld(t, 0)
		g := w.connect(kind, "harbour.coffee")
		unknown := g
		unknown.Holder = ""
		for _, age := range []time.Duration{time.Hour, 48 * time.Hour} {
			w.clock.Advance(age)
			known, err := w.network().Refresh(t.Context(), unknown)
			if err != nil || known.Holder != g.Holder || known.Account != g.Account {
				t.Errorf("by %s: the holder is %q and not %q, %v", kind, known.Holder, g.Holder, err)
			}
		}
	}
	opts := answers(t, map[string][]string{"/refresh_access_token": {`{"access_token":"t","expires_in":5184000}`}, "/v25.0/me": {`{}`}})
	g := network.Grant{Kind: "instagram", Server: opts.GraphHost, Access: "old"}
	if fresh, err := instagram.New(opts).Refresh(t.Context(), g); err != nil || fresh.Access != "t" || fresh.Holder != "" {
		t.Errorf("%+v, %v", fresh, err)
	}
}

func TestDeadTokens(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.harbour()
	d := w.prepared(g, l, "dead")
	w.clock.Advance(61 * 24 * time.Hour)
	_, err := w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.AuthDead, "190/463")
	g.Access = "no-token"
	_, _, err = w.network().Prepare(t.Context(), g, w.plan("dead", l.jpeg(t, 9, 9)), l)
	networktest.WantClass(t, err, network.AuthDead, "190")
	w.wantHeld(0)
}

func TestNoPasswords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	_, err := w.network().Connect(t.Context(), network.Credentials{Identifier: "harbour.coffee", Password: "x"})
	networktest.WantClass(t, err, network.Rejected, "")
}

// answers is a network that gives each path its own answers in turn, the last one for ever.
func answers(t *testing.T, by map[string][]string) instagram.Options {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := by[r.URL.Path]
		if len(said) == 0 {
			t.Errorf("asked for %s", r.URL.Path)
			return
		}
		if len(said) > 1 {
			by[r.URL.Path] = said[1:]
		}
		_, _ = w.Write([]byte(said[0]))
	}))
	t.Cleanup(front.Close)
	return instagram.Options{
		TokenHost: front.URL, GraphHost: front.URL,
		Facebook: instagram.Facebook{GraphHost: front.URL},
	}
}

// The network's documentation and the network itself write the first answer in different ways.
func TestFormsOfAnswers(t *testing.T) {
	t.Parallel()
	const me = `{"id":"5","user_id":"17841400000000001","username":"a","name":"A"}`
	for name, c := range map[string]struct {
		short string
		class network.Class
	}{
		"a list of permissions": {`{"access_token":"short","user_id":17841,"permissions":["instagram_business_basic","instagram_business_content_publish"]}`, ""},
		"wrapped, one line":     {`{"data":[{"access_token":"short","user_id":"17841","permissions":"instagram_business_basic,instagram_business_content_publish"}]}`, ""},
		"nothing told":          {`{"access_token":"short"}`, ""},
		"not allowed":           {`{"access_token":"short","permissions":"instagram_business_basic"}`, network.AuthDead},
		"no token":              {`{"data":[{}]}`, network.Transient},
		"nonsense":              {`{"data":"x"}`, network.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := instagram.New(answers(t, map[string][]string{
				"/oauth/access_token": {c.short}, "/access_token": {`{"access_token":"long","expires_in":5183944}`}, "/v25.0/me": {me},
			}))
			found, err := n.Exchange(t.Context(), network.Authorization{Kind: "instagram"}, "code")
			if networktest.Class(err) != c.class {
				t.Fatal(err)
			}
			if err == nil && (len(found) != 1 || found[0].Grant.Account != "17841400000000001" || found[0].Grant.Access != "long") {
				t.Errorf("found %+v", found)
			}
		})
	}
}

// Pages come in lists, and not every one can be used.
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
		"none":         {[]string{`{"data":[]}`}, 0},
		"two lists":    {[]string{`{"data":[` + usable + `],` + more + `}`, `{"data":[` + usable + `]}`}, 2},
		"without end":  {[]string{`{"data":[` + usable + `],` + more + `}`}, 20},
		"no account":   {[]string{`{"data":[{"id":"301","access_token":"p"}]}`}, 0},
		"no token":     {[]string{`{"data":[{"id":"301","instagram_business_account":{"id":"101","username":"a"}}]}`}, 0},
		"bad ids":      {[]string{`{"data":[{"id":"../me","access_token":"p","instagram_business_account":{"id":"101","username":"a"}}]}`}, 0},
		"bad accounts": {[]string{`{"data":[{"id":"301","access_token":"p","instagram_business_account":{"id":"../me","username":"a"}}]}`}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := instagram.New(answers(t, map[string][]string{
				tokens:                  {`{"access_token":"t"}`},
				"/v25.0/me/permissions": {`{"data":[{"permission":"instagram_content_publish","status":"granted"},{"permission":"x","status":"declined"}]}`},
				"/v25.0/me/accounts":    c.lists,
				"/v25.0/me":             {`{"id":"7"}`},
			}))
			found, err := n.Exchange(t.Context(), network.Authorization{Kind: "facebook"}, "code")
			if err != nil || len(found) != c.want {
				t.Errorf("%d candidates, %v", len(found), err)
			}
		})
	}
}

// A permission that was declined is none.
func TestDeclinedPermission(t *testing.T) {
	t.Parallel()
	n := instagram.New(answers(t, map[string][]string{
		"/v25.0/oauth/access_token": {`{"access_token":"t"}`},
		"/v25.0/me/permissions":     {`{"data":[{"permission":"instagram_content_publish","status":"declined"}]}`},
	}))
	_, err := n.Exchange(t.Context(), network.Authorization{Kind: "facebook"}, "code")
	networktest.WantClass(t, err, network.AuthDead, "permission_missing")
}

// Who has lost their role on a Page has to connect again; a grant that names no Page is none of ours.
func TestRefreshWithoutPage(t *testing.T) {
	t.Parallel()
	opts := answers(t, map[string][]string{"/v25.0/oauth/access_token": {`{"access_token":"t"}`}, "/v25.0/301": {`{"id":"301"}`}, "/v25.0/me": {`{"id":"7"}`}})
	g := network.Grant{Kind: "facebook", Server: opts.GraphHost, Extra: map[string]string{"page": "301", "user_token": "u"}}
	_, err := instagram.New(opts).Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "")
	g.Extra = nil
	_, err = instagram.New(opts).Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.Rejected, "")
}
