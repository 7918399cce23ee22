package facebook_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/facebook"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A sign-in fails if the person declined a required permission.
func TestDeclinedPermission(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	_, err := f.Exchange("", networktest.Account+"&declined=pages_manage_posts")
	networktest.WantClass(t, err, network.ReconnectRequired, "pages_manage_posts")
}

// Only Pages on which a person may post can be connected. If the person loses that role, the Page has to be
// reconnected.
func TestPages(t *testing.T) {
	t.Parallel()
	lists := map[string]string{
		"": `{"data":[{"id":"101","name":"No task","access_token":"x","tasks":["ANALYZE"]},
			{"id":"102","name":"No token","tasks":["CREATE_CONTENT"]},
			{"id":"../103","name":"No id","access_token":"x","tasks":["CREATE_CONTENT"]},
			{"id":"104","name":"No name of its own","access_token":"page-104","tasks":["CREATE_CONTENT"]}],
			"paging":{"cursors":{"after":"more"},"next":"https://elsewhere.test/"}}`,
		"more": `{"data":[{"id":"105","name":"Page","username":"page","access_token":"page-105",
			"tasks":["ANALYZE","CREATE_CONTENT"]}],"paging":{"cursors":{"after":"last"}}}`,
	}
	url := networktest.Serve(t, answering(func(r *http.Request) string {
		switch {
		case strings.HasSuffix(r.URL.Path, "/access_token"):
			return `{"access_token":"person","expires_in":5184000}`
		case strings.HasSuffix(r.URL.Path, "/me"):
			return `{"id":"7"}`
		case strings.HasSuffix(r.URL.Path, "/permissions"):
			return `{"data":[{"permission":"pages_show_list","status":"granted"},
				{"permission":"pages_read_engagement","status":"granted"},
				{"permission":"pages_manage_posts","status":"granted"},{"permission":"email","status":"declined"}]}`
		}
		return lists[r.URL.Query().Get("after")]
	}))
	n := facebook.New(facebook.Options{GraphHost: url})
	found, err := n.Exchange(t.Context(), network.Authorization{}, "code")
	must.NoError(t, err)
	got := map[string]string{}
	for _, f := range found {
		got[f.Grant.Account] = f.Grant.Username + " " + f.Grant.AccessToken + " " + f.Grant.RefreshToken
	}
	want := map[string]string{"104": "No name of its own page-104 person", "105": "page page-105 person"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	fresh, err := n.Refresh(t.Context(), network.Grant{Server: url, Account: "105"})
	if err != nil || fresh.AccessToken != "page-105" {
		t.Errorf("grant %+v, %v", fresh, err)
	}
	_, err = n.Refresh(t.Context(), network.Grant{Server: url, Account: "101"})
	networktest.WantClass(t, err, network.ReconnectRequired, "CREATE_CONTENT")
}

// portfolio returns a server for a person whose Pages belong to business portfolios, so that the person's own list is
// empty. The parameter answers maps paths to responses. The response for any other path is that the object does not
// exist.
func portfolio(t *testing.T, permissions string, answers map[string]string) string {
	t.Helper()
	return networktest.Serve(t, answering(func(r *http.Request) string {
		path := strings.TrimPrefix(r.URL.Path, "/v25.0/")
		if after := r.URL.Query().Get("after"); after != "" {
			path += " " + after
		}
		switch answer, known := answers[path]; {
		case known:
			return answer
		case path == "oauth/access_token":
			return `{"access_token":"person","expires_in":5184000}`
		case path == "me":
			return `{"id":"7"}`
		case path == "me/permissions":
			return `{"data":[{"permission":"pages_show_list","status":"granted"},
				{"permission":"pages_read_engagement","status":"granted"},
				{"permission":"pages_manage_posts","status":"granted"}` + permissions + `]}`
		case path == "me/accounts":
			return `{"data":[]}`
		}
		return graph(`"code":100,"error_subcode":33`)
	}))
}

const business = `,{"permission":"business_management","status":"granted"}`

// Pages of business portfolios are found if the permission was granted. Each Page is returned only once.
func TestPagesOfPortfolios(t *testing.T) {
	t.Parallel()
	const more = `],"paging":{"cursors":{"after":"more"},"next":"https://elsewhere.test/"}}`
	page := func(id string) string {
		return `{"id":"` + id + `","name":"` + id + `","access_token":"page-` + id + `"}`
	}
	url := portfolio(t, business, map[string]string{
		"me/accounts":          `{"data":[{"id":"1010","name":"Own","access_token":"own","tasks":["CREATE_CONTENT"]}]}`,
		"me/businesses":        `{"data":[{"id":"501"}` + more,
		"me/businesses more":   `{"data":[{"id":"../me"},{"id":"502"}]}`,
		"501/owned_pages":      `{"data":[` + page("1010") + `,` + page("1020") + more,
		"501/owned_pages more": `{"data":[` + page("1030") + `,{"id":"1040","name":"No role"}]}`,
		"501/client_pages":     `{"error":{"code":200}}`,
		"502/client_pages":     `{"data":[` + page("1050") + `,` + page("1020") + `]}`,
		"1050":                 page("1050"), "1040": `{"id":"1040"}`,
	})
	n := facebook.New(facebook.Options{GraphHost: url})
	found, err := n.Exchange(t.Context(), network.Authorization{}, "code")
	must.NoError(t, err)
	var got []string
	for _, f := range found {
		got = append(got, f.Grant.Account+" "+f.Grant.AccessToken)
	}
	want := []string{"1010 own", "1020 page-1020", "1030 page-1030", "1050 page-1050"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	fresh, err := n.Refresh(t.Context(), network.Grant{Server: url, Account: "1050"})
	if err != nil || fresh.AccessToken != "page-1050" {
		t.Errorf("grant %+v, %v", fresh, err)
	}
	for _, lost := range []string{"1040", "1060"} {
		_, err = n.Refresh(t.Context(), network.Grant{Server: url, Account: lost})
		networktest.WantClass(t, err, network.ReconnectRequired, "CREATE_CONTENT")
	}
}

// A sign-in without a Page names the permission that is missing.
func TestMissingPermission(t *testing.T) {
	t.Parallel()
	analyst := map[string]string{"me/accounts": `{"data":[{"id":"101","access_token":"x","tasks":["ANALYZE"]}]}`}
	noTasks := map[string]string{"me/accounts": `{"data":[{"id":"101","access_token":"x","tasks":[]}]}`}
	for name, c := range map[string]struct {
		permissions string
		answers     map[string]string
		want        string
	}{
		"no business_management": {"", nil, "business_management"},
		"another role":           {business, analyst, "CREATE_CONTENT"},
		"no role":                {"", noTasks, "CREATE_CONTENT"},
		"no Page at all":         {business, nil, "pages_show_list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := facebook.New(facebook.Options{GraphHost: portfolio(t, c.permissions, c.answers)})
			found, err := n.Exchange(t.Context(), network.Authorization{}, "code")
			missing, lacks := errors.AsType[*network.MissingPermissionError](err)
			if len(found) != 0 || !lacks || missing.Permission != c.want || missing.Effect == "" {
				t.Fatalf("found %+v, %v", found, err)
			}
			if byAdmin := c.want != "business_management"; strings.Contains(missing.NextStep, "Page admin") != byAdmin {
				t.Errorf("cure %q", missing.NextStep)
			}
			networktest.WantClass(t, err, network.ReconnectRequired, c.want)
		})
	}
}

// If a list fails temporarily, the sign-in returns the Pages of the other lists and an error that Pages are missing.
func TestSomePagesUnread(t *testing.T) {
	t.Parallel()
	const page, failing = `{"data":[{"id":"1010","name":"Own","access_token":"own"}]}`, `{"error":{"code":2}}`
	for name, answers := range map[string]map[string]string{
		"own Pages":   {"me/accounts": failing, "me/businesses": `{"data":[{"id":"501"}]}`, "501/owned_pages": page},
		"portfolios":  {"me/accounts": page, "me/businesses": failing},
		"a portfolio": {"me/accounts": page, "me/businesses": `{"data":[{"id":"501"}]}`, "501/owned_pages": failing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := facebook.New(facebook.Options{GraphHost: portfolio(t, business, answers)})
			found, err := n.Exchange(t.Context(), network.Authorization{}, "code")
			if len(found) != 1 || !errors.Is(err, network.ErrUnreadAccounts) {
				t.Errorf("found %+v, %v", found, err)
			}
		})
	}
}

// If a list fails temporarily and no Page was read, the sign-in fails.
func TestPortfolioFails(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"me/businesses", "501/client_pages"} {
		answers := map[string]string{"me/businesses": `{"data":[{"id":"501"}]}`}
		answers[path] = `{"error":{"code":2}}`
		n := facebook.New(facebook.Options{GraphHost: portfolio(t, business, answers)})
		_, err := n.Exchange(t.Context(), network.Authorization{}, "code")
		networktest.WantClass(t, err, network.Transient, "2")
	}
}

// The sandbox has a Page that a sign-in finds only with the permission for business portfolios.
func TestSandboxPortfolio(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Connect("", "studio.north")
	f.Publish(f.Renew(g), f.MustPrepare(g, "by an agency"))
	f.WantPosts(1)
	_, err := f.Exchange("", "studio.north&declined=business_management")
	networktest.WantClass(t, err, network.ReconnectRequired, "business_management")
}

// answering returns a handler that responds with the result of answer.
func answering(answer func(*http.Request) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		networktest.ListHandler("", answer(r), "").ServeHTTP(w, r)
	}
}

// The person's token cannot be used for calls about the Page.
func TestPersonToken(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	d := f.MustPrepare(g, "dead")
	g.AccessToken = g.RefreshToken
	_, err := f.Commit(g, d)
	networktest.WantClass(t, err, network.ReconnectRequired, "200")
	g.RefreshToken = "no-token"
	_, err = f.Network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.ReconnectRequired, "190")
	f.WantPosts(0)
}

func TestAuthorize(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(facebook.New(facebook.Options{App: network.App{ClientID: "17"}}).
		Authorize(network.Authorization{State: "s", Redirect: "https://a.test/back"}))
	if err != nil || address.Scheme+"://"+address.Host+address.Path != "https://www.facebook.com/v25.0/dialog/oauth" {
		t.Errorf("%s, %v", address, err)
	}
	want := url.Values{
		"client_id": {"17"}, "redirect_uri": {"https://a.test/back"}, "response_type": {"code"}, "state": {"s"},
		"scope": {"pages_show_list,pages_read_engagement,pages_manage_posts,read_insights,pages_manage_engagement,business_management"},
	}
	if diff := cmp.Diff(want, address.Query()); diff != "" {
		t.Error(diff)
	}
}

// Renewing a grant without a holder sets the holder.
func TestRenewFillsInHolder(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	holder := g.Holder
	g.Holder = ""
	if fresh := f.Renew(g); fresh.Holder != holder || len(holder) < 15 {
		t.Errorf("the holder is %q, want %q", fresh.Holder, holder)
	}
}

// Revoke returns an error if the network does not confirm the revocation.
func TestUnconfirmedRevocation(t *testing.T) {
	t.Parallel()
	s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{Body: `{}`})
	s.Grant.Holder = "facebook:7"
	networktest.WantClass(t, s.Network.(*facebook.Network).Revoke(t.Context(), s.Grant), network.Transient, "")
}
