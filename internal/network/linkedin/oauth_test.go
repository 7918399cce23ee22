package linkedin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/linkedin"
	"pressroom.example/pressroom/internal/network/networktest"
)

// An app that is not approved for organizations connects members and receives no refresh token.
func TestConnectMembers(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, members, 0)
	found := f.Candidates("", networktest.Account)
	if len(found) != 1 || found[0].Grant.RefreshToken != "" || f.Transport.Count("organizationAcls") != 0 {
		t.Fatalf("candidates %+v", found)
	}
	g := found[0].Grant
	d := f.MustPrepare(g, "dead")
	f.Clock.Advance(61 * day)
	_, err := f.Commit(g, d)
	networktest.WantClass(t, err, network.ReconnectRequired, "EXPIRED_ACCESS_TOKEN")
	_, err = f.Network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.ReconnectRequired, "")
	f.WantPosts(0)
}

// Organizations that cannot be listed are omitted. An organization without a readable name is included.
func TestOrganizationsOptional(t *testing.T) {
	t.Parallel()
	answers := map[string]struct {
		status int
		body   string
	}{
		"/oauth/v2/accessToken": {200, `{"access_token":"a","expires_in":60}`},
		"/v2/userinfo":          {200, `{"sub":"abc"}`},
	}
	for name, c := range map[string]struct {
		status int
		body   string
		want   []string
		class  network.ErrorClass
	}{
		"forbidden": {403, `{"status":403}`, []string{"abc"}, ""},
		"broken":    {500, ``, nil, network.Transient},
		"offices": {200,
			`{"elements":[{"organization":"urn:li:organization:7","role":"ADMINISTRATOR"},
			{"organization":"urn:li:organization:7","role":"CONTENT_ADMIN"},
			{"organization":"urn:li:organization:8","role":"ANALYST"},{"organization":"urn:li:person:8","role":"ADMINISTRATOR"},
			{"organizationTarget":"urn:li:organization:9","role":"CONTENT_ADMINISTRATOR"}]}`, []string{"abc", "7", "9"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front := networktest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer, known := answers[r.URL.Path]
				if !known && strings.HasSuffix(r.URL.Path, "Acls") {
					answer.status, answer.body, known = c.status, c.body, true
				}
				if !known {
					answer.status = http.StatusNotFound
				}
				w.WriteHeader(answer.status)
				_, _ = w.Write([]byte(answer.body))
			}))
			found, err := linkedin.New(linkedin.Options{AuthorizeHost: front, APIHost: front, Organizations: true}).
				Exchange(t.Context(), network.Authorization{}, "code")
			var names []string
			for _, f := range found {
				names = append(names, f.Grant.Username)
			}
			if diff := cmp.Diff(c.want, names); diff != "" || networktest.Class(err) != c.class {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestWithoutSecret(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.UsePublicClient()
	_, err := f.Exchange("", networktest.Account)
	networktest.WantClass(t, err, network.AppNotApproved, "invalid_client")
}

// A new refresh token replaces the old one.
func TestRefreshTokens(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"access_token":"b","expires_in":60,"refresh_token":"new","refresh_token_expires_in":90}`: "new",
		`{"access_token":"b"}`: "refresh-secret",
	} {
		s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{Body: body})
		if fresh, err := s.Network.Refresh(t.Context(), s.Grant); err != nil || fresh.RefreshToken != want ||
			fresh.AccessToken != "b" || fresh.Account != s.Grant.Account {
			t.Errorf("grant %+v, %v", fresh, err)
		}
	}
}

// Both accounts of a consent can publish after each grant was refreshed.
func TestAccountsShareConsent(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	for _, found := range f.Candidates("", "mira.keller") {
		g := f.Renew(found.Grant)
		f.Publish(g, f.MustPrepare(g, "shared"))
	}
	f.WantPosts(2)
}

// Without a refresh token, a person has to reconnect the account when the token expires.
func TestExpiredTokens(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	d := f.MustPrepare(g, "dead")
	g.RefreshToken = ""
	f.Clock.Advance(61 * day)
	_, err := f.Commit(g, d)
	networktest.WantClass(t, err, network.ReconnectRequired, "EXPIRED_ACCESS_TOKEN")
	_, err = f.CollectThrough(f.Transport, g, networktest.Start, 10)
	networktest.WantClass(t, err, network.ReconnectRequired, "EXPIRED_ACCESS_TOKEN")
	g.AccessToken = "no-token"
	_, err = f.Commit(g, d)
	networktest.WantClass(t, err, network.ReconnectRequired, "INVALID_ACCESS_TOKEN")
}
