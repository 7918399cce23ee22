package linkedin_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/linkedin"
	"pressroom.example/pressroom/internal/network/networktest"
)

const companySecret = "company-secret"

// company is the adapter with an app that has only the Community Management API.
var company = withOptions(func(opts *linkedin.Options) {
	opts.Company = network.OAuthApp{ClientID: opts.ClientID + "-community-management", ClientSecret: companySecret}
	opts.ClientID = ""
})

// selfService is the adapter with an app that has only the self-service products.
var selfService = withOptions(func(opts *linkedin.Options) {
	opts.ClientID += "-self-service"
	opts.Organizations = false
})

// Authorize requests the scopes that each product allows.
func TestScopes(t *testing.T) {
	t.Parallel()
	const (
		member       = "openid profile email w_member_social"
		organization = "w_organization_social r_organization_social rw_organization_admin"
	)
	app := network.App{ClientID: "17"}
	for name, c := range map[string]struct {
		opts linkedin.Options
		kind string
		want string
	}{
		"self-service":         {linkedin.Options{App: app}, "", member},
		"Advertising API":      {linkedin.Options{App: app, Organizations: true}, "", member + " " + organization},
		"Community Management": {linkedin.Options{}, "company", "r_basicprofile w_member_social " + organization},
		"chosen": {
			linkedin.Options{Company: network.OAuthApp{Scopes: []string{"w_organization_social"}}}, "company", "w_organization_social",
		},
	} {
		address := linkedin.New(c.opts).Authorize(network.Authorization{Kind: c.kind})
		if !strings.Contains(address, "scope="+strings.ReplaceAll(c.want, " ", "+")+"&") {
			t.Errorf("%s: %s", name, address)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for want, opts := range map[string]linkedin.Options{
		"":         {App: network.App{ClientID: "1"}},
		"company":  {Company: network.OAuthApp{ClientID: "2"}},
		",company": {App: network.App{ClientID: "1"}, Company: network.OAuthApp{ClientID: "2"}},
	} {
		if got := strings.Join(linkedin.New(opts).Kinds(), ","); got != want {
			t.Errorf("kinds %q, want %q", got, want)
		}
	}
}

// An app that has only the Community Management API connects organizations and members. It does not call userinfo.
func TestConnectCompanies(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, company, 0)
	found := f.Candidates("company", "mira.keller")
	if len(found) != 2 || found[0].Grant.Kind != "member" || found[1].Grant.Kind != "organization" ||
		found[0].DisplayName != "Mira Keller" || f.Transport.Count("userinfo") != 0 ||
		f.Transport.Count("/v2/me") != 1 {
		t.Fatalf("candidates %+v", found)
	}
	for _, c := range found {
		g := f.Renew(c.Grant)
		f.Publish(g, f.MustPrepare(g, "by an app for companies"))
	}
	f.WantPosts(2)
	for _, r := range f.Transport.Requests("accessToken") {
		if got := r.Params().Get("client_secret"); got != companySecret {
			t.Errorf("%s: the secret is %q", r.Line(), got)
		}
	}
}

// Refresh fails permanently if the app of the grant is not configured.
func TestRefreshWithoutApp(t *testing.T) {
	t.Parallel()
	n := linkedin.New(linkedin.Options{App: network.App{ClientID: "17", ClientSecret: "s"}})
	g := network.Grant{RefreshToken: "r", Extra: map[string]string{"app": "company"}}
	_, err := n.Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.ReconnectRequired, "")
}

// An app that has only the self-service products connects members by default.
func TestConnectWithSelfService(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, selfService, 0)
	found := f.Candidates("", "mira.keller")
	if len(found) != 1 || found[0].Grant.Kind != "member" || f.Transport.Count("organizationAcls") != 0 {
		t.Fatalf("candidates %+v", found)
	}
	f.Publish(found[0].Grant, f.MustPrepare(found[0].Grant, "by a member"))
	f.WantPosts(1)
}

// LinkedIn rejects a consent with a scope that the app's products do not grant.
func TestUnauthorizedScope(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]string{
		"-self-service": "w_organization_social", "-community-management": "openid",
	} {
		f := networktest.New(t, withOptions(func(opts *linkedin.Options) { opts.ClientID += end }), 0)
		address := f.Network().(network.Authorizer).Authorize(networktest.Authorization(""))
		query := networktest.Consent(t, address, networktest.Account, "allow").Query()
		if query.Get("error") != "unauthorized_scope_error" || !strings.Contains(query.Get("error_description"), `"`+want+`"`) {
			t.Errorf("%s: %v", end, query)
		}
	}
}

// The call that identifies the member depends on the granted scopes.
func TestIdentityCalls(t *testing.T) {
	t.Parallel()
	const denied = `{"status":403,"serviceErrorCode":100,"code":"ACCESS_DENIED","message":"Not enough permissions"}`
	for name, c := range map[string]struct {
		scope string
		calls []string
		want  []string
	}{
		"OpenID":            {"openid,profile,w_member_social", []string{"/v2/userinfo"}, []string{"Mira Keller"}},
		"basic profile":     {"r_basicprofile,w_member_social", []string{"/v2/me"}, []string{"Mira Keller"}},
		"neither":           {"w_member_social", nil, nil},
		"organization only": {"w_organization_social", nil, nil},
		"organizations": {"w_organization_social,rw_organization_admin",
			[]string{"/rest/organizationAcls", "/rest/organizations/7"}, []string{"7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []string
			front := networktest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := networktest.StubResponse{Body: denied, Status: http.StatusForbidden}
				switch path := r.URL.Path; {
				case path == "/oauth/v2/accessToken":
					networktest.StubResponse{Body: `{"access_token":"a","scope":"` + c.scope + `"}`}.ServeHTTP(w, r)
					return
				case path == "/v2/userinfo" && strings.Contains(c.scope, "openid"):
					answer = networktest.StubResponse{Body: `{"sub":"abc","name":"Mira Keller"}`}
				case path == "/v2/me" && strings.Contains(c.scope, "r_basicprofile"):
					answer = networktest.StubResponse{Body: `{"id":"abc","localizedFirstName":"Mira","localizedLastName":"Keller"}`}
				case path == "/rest/organizationAcls":
					answer = networktest.StubResponse{
						Body: `{"elements":[{"organization":"urn:li:organization:7","role":"ADMINISTRATOR"}]}`,
					}
				}
				calls = append(calls, r.URL.Path)
				answer.ServeHTTP(w, r)
			}))
			found, err := linkedin.New(linkedin.Options{AuthorizeHost: front, APIHost: front}).
				Exchange(t.Context(), network.Authorization{Kind: "company"}, "code")
			if err != nil || !slices.Equal(calls, c.calls) {
				t.Fatalf("calls %v, %v", calls, err)
			}
			var names []string
			for _, f := range found {
				names = append(names, f.Grant.Username)
			}
			if diff := cmp.Diff(c.want, names); diff != "" {
				t.Error(diff)
			}
		})
	}
}
