package app

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/oauth2-proxy/mockoidc"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/oidcserver"
)

// newProvider returns an OpenID provider that signs in queued people, and a function that configures it.
func newProvider(t *testing.T, only bool) (*oidcserver.Provider, func(*server.Config)) {
	t.Helper()
	provider := oidcserver.Run(t)
	return provider, func(cfg *server.Config) {
		cfg.Directory.Issuer, cfg.Directory.Exclusive = provider.Issuer(), only
		cfg.Directory.ClientID, cfg.Directory.ClientSecret = provider.ClientID, provider.ClientSecret
		cfg.Directory.Roots = provider.Roots
	}
}

// withProvider runs a test on a server with an OpenID provider, on each database.
func withProvider(t *testing.T, only bool, run func(t *testing.T, h *env, provider *oidcserver.Provider)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		provider, cfg := newProvider(t, only)
		run(t, open(t, url, cfg), provider)
	})
}

const directoryButton = "Sign in with your organization’s directory"

func TestDirectorySignIn(t *testing.T) {
	withProvider(t, false, func(t *testing.T, h *env, provider *oidcserver.Provider) {
		c := h.crew(t)
		comes := func(email string, verified bool) {
			provider.QueueUser(&mockoidc.MockUser{Subject: email, Email: email, EmailVerified: verified})
		}
		b := h.browser(t)
		comes(c.people[access.Editor].Email, true)
		b.open("/account").shows(200, "Sign in").follow(directoryButton).shows(200, "Your account", c.people[access.Editor].Email)

		for email, verified := range map[string]bool{"unknown@harbour.example": true, c.people[access.Owner].Email: false} {
			comes(email, verified)
			rejected := h.browser(t)
			rejected.open("/sign-in").follow(directoryButton).shows(401, "directory").lacks(c.team.Name)
			if rejected.signedIn() {
				t.Errorf("%s can sign in", email)
			}
		}
		path := c.invite(t, "new@harbour.example", access.Viewer)
		comes("new@harbour.example", true)
		b = h.browser(t)
		b.open(path).follow("Join with your organization’s directory").shows(200, c.team.Name, "viewer")
		b.open("/account").shows(200, "You have no password.")
		c.invite(t, "later@harbour.example", access.Viewer)
		comes("later@harbour.example", true)
		b = h.browser(t)
		asked := b.open("/sign-in").follow(directoryButton).shows(200, "Choose a team", c.team.Name)
		if b.signedIn() || h.count(t, "people WHERE email = 'later@harbour.example'") != 0 {
			t.Error("a person joined by an invitation that was not opened")
		}
		asked.form("Join").press().shows(200, c.team.Name)
		b.send(http.MethodPost, "/sign-in/directory/join", url.Values{"invitation": {"1"}}).shows(422, "This sign-in has expired")
		h.browser(t).open("/sign-in/directory/return?state=x&code=y").shows(422, "started in another browser")
	})
}

// If only the directory may sign people in, every other way to sign in is rejected.
func TestDirectoryOnlySignIn(t *testing.T) {
	withProvider(t, true, func(t *testing.T, h *env, provider *oidcserver.Provider) {
		c := h.crew(t)
		path := c.invite(t, "new@harbour.example", access.Viewer)
		b := h.browser(t)
		b.open("/sign-in").shows(200, directoryButton).lacks("password")
		b.open(path).shows(200, "Join with your organization").lacks("password")
		for _, at := range []string{
			"/sign-in", "/sign-in/passkey", "/sign-in/passkey/options", path + "/join", path + "/sign-in",
			path + "/options", team.RecoveryPath + "x",
		} {
			b.send(http.MethodPost, at,
				url.Values{"email": {c.people[access.Owner].Email}, "password": {password}, "name": {"New"}}).
				shows(403, "only with your organization’s directory")
		}
		provider.AddPerson("owner", c.people[access.Owner].Email)
		b.open("/sign-in").follow(directoryButton).shows(200, c.team.Name)
		b.open("/account").shows(200, "You sign in with your organization’s directory.").lacks("/account/password")
		for _, at := range []string{"/account/password", "/account/passkeys/new"} {
			b.open(at).shows(403, "only with your organization’s directory")
		}
	})
}
