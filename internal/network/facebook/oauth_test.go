package facebook_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/facebook"
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
	found, err := w.network().Exchange(t.Context(), a, back.Query().Get("code"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d candidates, %v", len(found), err)
	}
	g := found[0].Grant
	if g.Access == "" || g.Refresh == "" || g.Access == g.Refresh || len(g.Account) < 5 || len(g.Holder) < 15 || g.Holder == "facebook:"+g.Account {
		t.Errorf("grant %+v", g)
	}
	ends := start.Add(60 * 24 * time.Hour)
	want := network.Candidate{DisplayName: "Harbour Coffee", Grant: network.Grant{
		Server: w.url + "/facebook/graph", Account: g.Account, Username: "harbour.coffee", Access: g.Access, Expires: ends, Refresh: g.Refresh, RefreshExpires: ends,
		Scopes: []string{"pages_show_list", "pages_read_engagement", "pages_manage_posts", "read_insights"}, Holder: g.Holder,
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

// A person may allow to sign in and yet take single permissions back.
func TestPermissionTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	a := network.Authorization{State: "s", Redirect: redirect}
	code := w.consent(a, "harbour.coffee&declined=pages_manage_posts", "allow").Query().Get("code")
	_, err := w.network().Exchange(t.Context(), a, code)
	networktest.WantClass(t, err, network.AuthDead, "pages_manage_posts")
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

// The person's token is traded for a new one, with which the Page's is read again; the old one ends when it would.
func TestRefresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	w.clock.Advance(30 * 24 * time.Hour)
	fresh, err := w.network().Refresh(t.Context(), g)
	ends := w.clock.Now().Add(60 * 24 * time.Hour)
	if err != nil || fresh.Access == g.Access || fresh.Refresh == g.Refresh {
		t.Fatalf("grant %+v, %v", fresh, err)
	}
	want := g
	want.Access, want.Refresh, want.Expires, want.RefreshExpires = fresh.Access, fresh.Refresh, ends, ends
	if diff := cmp.Diff(want, fresh); diff != "" {
		t.Error(diff)
	}
	w.clock.Advance(31 * 24 * time.Hour)
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "190/463")
	w.publish(fresh, w.prepared(fresh, nil, "renewed"))
	w.wantHeld(1)
}

// Only the Pages on which a person may post can be connected, from however many lists; one that is not among them any
// more is lost.
func TestPages(t *testing.T) {
	t.Parallel()
	lists := map[string]string{
		"": `{"data":[{"id":"101","name":"No task","access_token":"x","tasks":["ANALYZE"]},{"id":"102","name":"No token","tasks":["CREATE_CONTENT"]},
			{"id":"../103","name":"No id","access_token":"x","tasks":["CREATE_CONTENT"]},{"id":"104","name":"No name of its own","access_token":"page-104","tasks":["CREATE_CONTENT"]}],
			"paging":{"cursors":{"after":"more"},"next":"https://elsewhere.test/"}}`,
		"more": `{"data":[{"id":"105","name":"Page","username":"page","access_token":"page-105","tasks":["ANALYZE","CREATE_CONTENT"]}],"paging":{"cursors":{"after":"last"}}}`,
	}
	w := answering(t, func(r *http.Request) string {
		switch {
		case strings.HasSuffix(r.URL.Path, "/access_token"):
			return `{"access_token":"person","expires_in":5184000}`
		case strings.HasSuffix(r.URL.Path, "/me"):
			return `{"id":"7"}`
		case strings.HasSuffix(r.URL.Path, "/permissions"):
			return `{"data":[{"permission":"pages_show_list","status":"granted"},{"permission":"pages_read_engagement","status":"granted"},
				{"permission":"pages_manage_posts","status":"granted"},{"permission":"email","status":"declined"}]}`
		}
		return lists[r.URL.Query().Get("after")]
	})
	n := facebook.New(facebook.Options{GraphHost: w.url})
	found, err := n.Exchange(t.Context(), network.Authorization{}, "code")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range found {
		got[f.Grant.Account] = f.Grant.Username + " " + f.Grant.Access + " " + f.Grant.Refresh
	}
	if diff := cmp.Diff(map[string]string{"104": "No name of its own page-104 person", "105": "page page-105 person"}, got); diff != "" {
		t.Error(diff)
	}
	if fresh, err := n.Refresh(t.Context(), network.Grant{Server: w.url, Account: "105"}); err != nil || fresh.Access != "page-105" {
		t.Errorf("grant %+v, %v", fresh, err)
	}
	_, err = n.Refresh(t.Context(), network.Grant{Server: w.url, Account: "101"})
	networktest.WantClass(t, err, network.AuthDead, "CREATE_CONTENT")
}

// networktest.Answering is a network that answers every request by answer, in place of the sandbox.
func answering(t *testing.T, answer func(*http.Request) string) *world {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := answer(r)
		if strings.HasPrefix(said, `{"error"`) {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte(said))
	}))
	t.Cleanup(front.Close)
	return &world{t: t, url: front.URL}
}

func TestDeadTokens(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, nil, "dead")
	g.Access = "no-token"
	_, err := w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.AuthDead, "190")
	_, _, err = w.network().Prepare(t.Context(), g, w.plan("dead", l.png(t, 9, 9)), l)
	networktest.WantClass(t, err, network.AuthDead, "190")
	g.Access = g.Refresh // the person's, which is not the Page's
	_, err = w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.AuthDead, "200")
	g.Refresh = "no-token"
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "190")
	w.wantHeld(0)
}

func TestNoPasswords(t *testing.T) {
	t.Parallel()
	_, err := facebook.New(facebook.Options{}).Connect(t.Context(), network.Credentials{Identifier: "harbour.coffee", Password: "x"})
	networktest.WantClass(t, err, network.Rejected, "")
}

func TestConsentPageOfTheRealNetwork(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(facebook.New(facebook.Options{App: network.App{ClientID: "17"}}).Authorize(network.Authorization{State: "s", Redirect: redirect}))
	if err != nil || address.Scheme+"://"+address.Host+address.Path != "https://www.facebook.com/v25.0/dialog/oauth" {
		t.Errorf("%s, %v", address, err)
	}
	want := url.Values{
		"client_id": {"17"}, "redirect_uri": {redirect}, "response_type": {"code"}, "state": {"s"},
		"scope": {"pages_show_list,pages_read_engagement,pages_manage_posts,read_insights"},
	}
	if diff := cmp.Diff(want, address.Query()); diff != "" {
		t.Error(diff)
	}
}
