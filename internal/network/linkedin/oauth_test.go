package linkedin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/linkedin"
	"pressroom/internal/network/networktest"
)

var scopes = []string{"openid", "profile", "email", "w_member_social", "w_organization_social", "r_organization_social", "rw_organization_admin"}

func TestConnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	a := network.Authorization{State: "a state & more", Redirect: redirect}
	back := w.consent(a, "harbour.coffee", "allow")
	if back.Query().Get("state") != a.State || !strings.HasPrefix(back.String(), redirect+"?") {
		t.Errorf("back to %s", back)
	}
	found, err := w.network().Exchange(t.Context(), a, back.Query().Get("code"))
	if err != nil || len(found) != 2 {
		t.Fatalf("%d candidates, %v", len(found), err)
	}
	person, company := found[0].Grant, found[1].Grant
	if person.Access == "" || person.Refresh == "" || !strings.HasPrefix(person.Account, "urn:li:person:") || !strings.HasPrefix(company.Account, "urn:li:organization:") {
		t.Errorf("grants %+v and %+v", person, company)
	}
	grant := network.Grant{
		Server: w.url + "/linkedin", Access: person.Access, Refresh: person.Refresh,
		Expires: start.Add(60 * 24 * time.Hour), RefreshExpires: start.Add(365 * 24 * time.Hour), Scopes: scopes,
	}
	as := func(kind, account, username, name string) network.Candidate {
		g := grant
		g.Kind, g.Account, g.Username = kind, account, username
		return network.Candidate{Grant: g, DisplayName: name}
	}
	want := []network.Candidate{
		as("member", person.Account, "Harbour Coffee", "Harbour Coffee"),
		as("organization", company.Account, "harbour.coffee.company", "Harbour Coffee Company"),
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

// An app that is not approved for organisations connects members, and is given no refresh token.
func TestConnectMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0).asMembers()
	found := w.candidates("harbour.coffee")
	if len(found) != 1 || found[0].Grant.Refresh != "" || w.wire.count("organizationAcls") != 0 {
		t.Fatalf("candidates %+v", found)
	}
	g := found[0].Grant
	d := w.prepared(g, "dead")
	w.clock.Advance(61 * 24 * time.Hour)
	_, err := w.commit(g, d)
	networktest.WantClass(t, err, network.AuthDead, "EXPIRED_ACCESS_TOKEN")
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "")
	w.wantHeld(0)
}

// Organisations that the network does not tell of are left out; one without a name is not.
func TestOrganizationsAreOptional(t *testing.T) {
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
		class  network.Class
	}{
		"forbidden": {403, `{"status":403}`, []string{"abc"}, ""},
		"broken":    {500, ``, nil, network.Transient},
		"offices": {200, `{"elements":[{"organization":"urn:li:organization:7","role":"ADMINISTRATOR"},{"organization":"urn:li:organization:7","role":"CONTENT_ADMIN"},
			{"organization":"urn:li:organization:8","role":"ANALYST"},{"organization":"urn:li:person:8","role":"ADMINISTRATOR"},
			{"organizationTarget":"urn:li:organization:9","role":"CONTENT_ADMINISTRATOR"}]}`, []string{"abc", "7", "9"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front := serve(t, func(w http.ResponseWriter, r *http.Request) {
				answer, known := answers[r.URL.Path]
				if !known && strings.HasSuffix(r.URL.Path, "Acls") {
					answer.status, answer.body, known = c.status, c.body, true
				}
				if !known {
					answer.status = http.StatusNotFound
				}
				w.WriteHeader(answer.status)
				_, _ = w.Write([]byte(answer.body))
			})
			found, err := linkedin.New(linkedin.Options{AuthorizeHost: front, APIHost: front}).Exchange(t.Context(), network.Authorization{}, "code")
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
		if said := networktest.WantClass(t, err, network.AuthDead, "invalid_request"); strings.Contains(said.Message+said.Error(), code) {
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
	w.opts.ClientSecret = ""
	_, err := w.network().Exchange(t.Context(), a, code())
	networktest.WantClass(t, err, network.Unapproved, "invalid_client")
}

// An access token is renewed as long as the consent is not a year old; the refresh token stays the same, as all
// accounts of one consent share it.
func TestRefresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connectOrganization("harbour.coffee")
	w.clock.Advance(61 * 24 * time.Hour)
	_, err := w.commit(g, w.prepared(g, "renewed"))
	networktest.WantClass(t, err, network.AuthRefresh, "EXPIRED_ACCESS_TOKEN")
	fresh, err := w.network().Refresh(t.Context(), g)
	if err != nil || fresh.Access == g.Access || !fresh.Expires.Equal(w.clock.Now().Add(60*24*time.Hour)) {
		t.Fatalf("grant %+v, %v", fresh, err)
	}
	want := g
	want.Access, want.Expires = fresh.Access, fresh.Expires
	if diff := cmp.Diff(want, fresh); diff != "" {
		t.Error(diff)
	}
	if _, err := w.commit(fresh, w.prepared(fresh, "renewed")); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
	w.clock.Advance(305 * 24 * time.Hour)
	_, err = w.network().Refresh(t.Context(), fresh)
	networktest.WantClass(t, err, network.AuthDead, "invalid_grant")
}

// What a token endpoint answers to a refresh: a new refresh token takes the place of the old one, and nothing but
// invalid_grant ends the consent.
func TestRefreshAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		class   network.Class
		refresh string
	}{
		"rotated":    {200, `{"access_token":"b","expires_in":60,"refresh_token":"new","refresh_token_expires_in":90}`, "", "new"},
		"not named":  {200, `{"access_token":"b"}`, "", "old"},
		"no token":   {200, `{}`, network.Transient, ""},
		"dead":       {400, `{"error":"invalid_grant","error_description":"old was revoked"}`, network.AuthDead, ""},
		"the app":    {401, `{"error":"invalid_client"}`, network.Transient, ""},
		"request":    {400, `{"error":"invalid_request"}`, network.Transient, ""},
		"too often":  {429, ``, network.Rate, ""},
		"on the way": {502, `<html>`, network.Transient, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := said(t, c.status, nil, c.body)
			n := linkedin.New(linkedin.Options{AuthorizeHost: w.url, App: network.App{ClientSecret: "app-secret"}})
			fresh, err := n.Refresh(t.Context(), network.Grant{Access: "a", Refresh: "old", Account: "urn:li:person:1"})
			if networktest.Class(err) != c.class || fresh.Refresh != c.refresh || err == nil && (fresh.Access != "b" || fresh.Account == "") {
				t.Errorf("grant %+v, %v", fresh, err)
			}
			if err != nil && c.class == network.AuthDead && strings.Contains(networktest.WantClass(t, err, c.class, "").Message, "old") {
				t.Error("the error holds the token")
			}
		})
	}
}

// Both accounts of a consent go on when the grant of one was renewed.
func TestAccountsShareAConsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	for _, found := range w.candidates("mira.keller") {
		g, err := w.network().Refresh(t.Context(), found.Grant)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.commit(g, w.prepared(g, "shared")); err != nil {
			t.Error(err)
		}
	}
	w.wantHeld(2)
}

func TestDeadTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "dead")
	g.Access, g.Refresh = "no-token", ""
	_, err := w.commit(g, d)
	networktest.WantClass(t, err, network.AuthDead, "INVALID_ACCESS_TOKEN")
	w.wantHeld(0)
}

func TestNoPasswords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	_, err := w.network().Connect(t.Context(), network.Credentials{Identifier: "harbour.coffee", Password: "x"})
	networktest.WantClass(t, err, network.Rejected, "")
}
