package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

const newPassword = "four plain words here"

// signIn signs a person in with a new browser.
func (h *env) signIn(t *testing.T, email, secret string) *browser {
	t.Helper()
	b := h.browser(t)
	b.open("/sign-in").form("Sign in").fill("email", email).fill("password", secret).press()
	return b
}

// signedIn reports whether a person is signed in.
func (b *browser) signedIn() bool {
	b.t.Helper()
	return strings.HasPrefix(b.open("/account").path, "/account")
}

// invite creates an invitation to the team as its owner and returns the path of the link.
func (c *crew) invite(t *testing.T, email string, role access.Role) string {
	t.Helper()
	_, token, err := c.Teams.Invite(t.Context(), c.people[access.Owner].ID, c.team.ID, email, role)
	must.NoError(t, err)
	return team.InvitationPath + token
}

func TestAccountPage(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		for _, role := range access.Roles() {
			p := c.as(t, role).open("/").follow("Your account").
				shows(200, "Your account", c.people[role].Email, "Change password", c.team.Name, "This browser",
					"need an address with a domain name")
			if len(p.source) > 100<<10 {
				t.Errorf("page size = %d bytes", len(p.source))
			}
		}
		signedOut := h.browser(t)
		for _, path := range []string{"/account", "/account/password", "/account/passkeys/new", "/account/passkeys/1"} {
			signedOut.open(path).shows(200, "Sign in").lacks(c.team.Name)
		}
		for _, path := range []string{
			"/account/password", "/account/passkeys", "/account/passkeys/options", "/account/passkeys/1",
			"/account/passkeys/1/remove", "/account/sessions/end", "/account/sessions/x/end",
		} {
			signedOut.send(http.MethodPost, path, url.Values{}).shows(200, "Sign in")
		}
		viewer := c.as(t, access.Viewer)
		for _, path := range []string{
			"/account/passkeys/1", "/account/passkeys/1/remove", "/account/passkeys/x", "/account/sessions/none/end",
		} {
			viewer.send(http.MethodPost, path, url.Values{}).shows(404, "This page doesn’t exist")
		}
		viewer.send(http.MethodPost, "/account/passkeys/options", url.Values{}).
			shows(422, "Passkeys cannot be used at this address")
		viewer.send(http.MethodPost, "/sign-in/passkey", url.Values{"passkey": {"{}"}}).
			shows(422, "Passkeys cannot be used at this address")
		viewer.open("/account/passkeys/new").shows(200, "need an address with a domain name")
	})
}

// A changed name is shown in every team.
func TestChangeName(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		p := b.open("/account").form("Save").fill("name", "  Grace <Hopper> ").press().
			shows(200, "Saved.", "Grace <Hopper>")
		for _, wrong := range []string{" ", "two\nlines", strings.Repeat("x", 201)} {
			p.form("Save").fill("name", wrong).press().shows(422, "Enter your name")
		}
		c.as(t, access.Owner).open("/settings/members").shows(200, "Grace <Hopper>")
		if n := h.count(t, "people WHERE name = 'Grace <Hopper>'"); n != 1 {
			t.Errorf("%d people have the name", n)
		}
		if out := h.browser(t).
			send(http.MethodPost, "/account/profile", url.Values{"name": {"Eve"}}); !strings.HasPrefix(out.path, "/sign-in") {
			t.Errorf("signed out, the request ends at %s", out.path)
		}
	})
}

// Changing the password requires the current one and ends all other sessions.
func TestChangePassword(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		here, there := c.as(t, access.Editor), c.as(t, access.Editor)
		form := func() *form { return here.open("/account").follow("Change password").form("Change password") }
		form().fill("old", "wrong").fill("password", newPassword).press().
			shows(422, "Your current password is incorrect.").lacks(newPassword)
		form().fill("old", password).fill("password", "short").press().shows(422, "at least 12 characters").lacks(password)
		token := here.token()
		form().fill("old", password).fill("password", newPassword).press().shows(200, "Your password was changed.", "Your account")
		if !here.signedIn() || there.signedIn() || here.token() == token {
			t.Errorf("signed in here: %t, there: %t; new token: %t", here.signedIn(), there.signedIn(), here.token() != token)
		}
		if h.signIn(t, c.people[access.Editor].Email, password).signedIn() ||
			!h.signIn(t, c.people[access.Editor].Email, newPassword).signedIn() {
			t.Error("the old password works, or the new password does not")
		}
	})
}

// token returns the browser's session cookie.
func (b *browser) token() string {
	b.t.Helper()
	return b.cookie("pressroom")
}

const knownCookie = "pressroom-known"

// cookie returns the value of a cookie, or "".
func (b *browser) cookie(name string) string {
	b.t.Helper()
	u := must.Get(url.Parse(b.root))(b.t)
	for _, c := range b.http.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// setCookie sets a cookie of the browser.
func (b *browser) setCookie(name, value string) {
	b.t.Helper()
	u := must.Get(url.Parse(b.root))(b.t)
	b.http.Jar.SetCookies(u, []*http.Cookie{{Name: name, Value: value}})
}

func TestSessions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		here, there, far, other := c.as(t, access.Editor), c.as(t, access.Editor), c.as(t, access.Editor), c.as(t, access.Viewer)
		if n := strings.Count(here.open("/account").source, `<button class="quiet" aria-label="Sign out`); n != 2 {
			t.Errorf("%d other sessions are listed", n)
		}
		var id string
		must.NoError(t, h.db.QueryRow(t.Context(), `SELECT id FROM sessions WHERE person_id = ?`, c.people[access.Viewer].ID).Scan(&id))
		here.send(http.MethodPost, "/account/sessions/"+id+"/end", url.Values{}).shows(404)
		if !other.signedIn() {
			t.Error("another person ended a session")
		}
		here.open("/account").form("Sign out Unknown browser").press().shows(200, "The browser was signed out.")
		if there.signedIn() == far.signedIn() {
			t.Error("no session was ended")
		}
		here.open("/account").form("Sign out of all sessions, including this one").press().shows(200, "Sign in")
		if here.signedIn() || there.signedIn() || far.signedIn() || !other.signedIn() {
			t.Error("the wrong sessions are signed in")
		}
	})
}

// A change of rights replaces the session token, and the old token becomes invalid.
func TestSessionTokenRenewedWithRights(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		before := b.token()
		if b.open("/"); b.token() != before {
			t.Error("the token changed without a change of rights")
		}
		must.NoError(t, h.Teams.SetMember(t.Context(), c.team.ID, c.people[access.Editor].ID, access.Admin))
		if b.open("/"); b.token() == before || !b.signedIn() {
			t.Error("the token was not renewed, or the session has ended")
		}
		must.Get(h.Teams.SetOperator(t.Context(), c.people[access.Editor].Email, true))(t)
		admin := b.token()
		if b.open("/"); b.token() == admin || !b.signedIn() {
			t.Error("the token was not renewed, or the session has ended")
		}
		for _, old := range []string{before, admin} {
			thief := h.browser(t)
			u := must.Get(url.Parse(h.root))(t)
			thief.http.Jar.SetCookies(u, []*http.Cookie{{Name: "pressroom", Value: old}})
			if thief.signedIn() {
				t.Error("an old token still works")
			}
		}
	})
}

// Adding a sign-in method requires a recent sign-in.
func TestNewSignInMethodRequiresRecentSignIn(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		h.advance(15 * time.Minute)
		b.send(http.MethodPost, "/account/passkeys", url.Values{"name": {"Thief's"}, "passkey": {"{}"}}).shows(200, "Sign in again")
		p := b.open("/account/passkeys/new").shows(200, "Sign in again", "Confirm your identity")
		if email := p.form("Confirm").values.Get("email"); email != c.people[access.Editor].Email {
			t.Errorf("%q", email)
		}
		p.form("Confirm").fill("password", "wrong").press().shows(401, "Sign in again", "Incorrect password. Try again.")
		p.form("Confirm").fill("password", password).press().shows(200, "Add a passkey")
		b.open("/account/passkeys/new").shows(200, "Add a passkey")
	})
}

// Unfinished sign-ins of one person do not prevent others at the same IP address from signing in.
func TestUnfinishedSignIns(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, at string) {
		t.Parallel()
		h := open(t, at, func(cfg *server.Config) { cfg.PublicURL = "http://press.example" })
		b := h.browser(t)
		for range 100 {
			b.send(http.MethodPost, "/sign-in/passkey/options", url.Values{}).shows(200, "challenge")
		}
		if n := h.count(t, "sessions"); n != 1 {
			t.Errorf("%d sessions for one browser", n)
		}
		h.browser(t).send(http.MethodPost, "/sign-in/passkey/options", url.Values{}).shows(200, "challenge")
	})
}

func TestInvitations(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		path := c.invite(t, "new@harbour.example", access.Editor)
		b := h.browser(t)
		b.open(path).
			shows(200, "Join "+c.team.Name, "Ada owner has invited", "new@harbour.example", "as editor", "I’m new here",
				"I have an account")
		join := func() *form { return b.open(path).form("Create account and join") }
		join().fill("name", "").fill("password", newPassword).press().shows(422, "Enter your name")
		p := join().fill("name", "Nora & New").fill("password", "aaaaaaaaaaaaaaaa").press().
			shows(422, "too easy to guess").lacks("aaaaaaaaaaaaaaaa")
		if got := p.form("Create account and join").values.Get("name"); got != "Nora & New" {
			t.Errorf("the name input is lost: %q", got)
		}
		join().fill("name", "Nora & New").fill("password", newPassword).press().
			shows(200, "You joined the team.", "Nora & New", "editor")
		h.browser(t).open(path).shows(422, "already accepted", "Sign in").lacks(c.team.Name, "Go to the home page", "Action not completed")
		if !h.signIn(t, "new@harbour.example", newPassword).signedIn() {
			t.Error("the new person cannot sign in")
		}

		// A signed-in person with a confirmed address joins by a button and sees the new team.
		h.change(t, `UPDATE people SET email_proved_at = 1 WHERE id IN (?, ?)`, other.people[access.Viewer].ID,
			other.people[access.Admin].ID)
		path = c.invite(t, other.people[access.Viewer].Email, access.Viewer)
		visitor := other.as(t, access.Viewer)
		visitor.open(path).form("Join team").press().shows(200, "You joined the team.")
		visitor.open("/account").shows(200, c.team.Name, other.team.Name)

		// Another person sees an error and cannot join.
		path = c.invite(t, "third@harbour.example", access.Admin)
		stranger := other.as(t, access.Editor)
		stranger.open(path).shows(200, "with a different address")
		stranger.send(http.MethodPost, path+"/accept", url.Values{}).shows(404)
		other.as(t, access.Client).open(path).form("Sign out and continue").press().shows(200, "Join "+c.team.Name, "I’m new here")
		stranger.send(http.MethodPost, path+"/sign-in", url.Values{"password": {password}}).
			shows(401, "Incorrect password, or no account with this email address.")
		h.browser(t).send(http.MethodPost, path+"/accept", url.Values{}).shows(200, "Sign in")

		// A person with an account signs in on the invitation page.
		path = c.invite(t, other.people[access.Admin].Email, access.Client)
		known := h.browser(t)
		known.open(path).form("Sign in and join").fill("password", "wrong").press().
			shows(401, "Incorrect password, or no account with this email address.")
		known.send(http.MethodPost, path+"/join", url.Values{"name": {"Thief"}, "password": {newPassword}}).shows(422, "That did not work.")
		known.open(path).form("Sign in and join").fill("password", password).press().shows(200, "You joined the team.", c.team.Name)
	})
}

func TestEndedInvitations(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner := c.people[access.Owner].ID
		revoked, old := c.invite(t, "a@harbour.example", access.Editor), c.invite(t, "b@harbour.example", access.Editor)
		open := must.Get(h.Teams.Invitations(t.Context(), c.team.ID))(t)
		must.NoError(t, h.Teams.Revoke(t.Context(), owner, c.team.ID, open[1].ID))
		b := h.browser(t)
		b.open(revoked).shows(422, "was revoked").lacks(c.team.Name)
		b.send(http.MethodPost, revoked+"/join", url.Values{"name": {"A"}, "password": {newPassword}}).shows(422, "was revoked")
		h.advance(7*24*time.Hour + time.Second)
		b.open(old).shows(422, "has expired").lacks(c.team.Name)
		for range 30 {
			b.open(team.InvitationPath+"guessed").shows(404, "This link does not work")
		}
		b.open(team.InvitationPath+"guessed").shows(429, "Too many wrong attempts.")
		b.open(c.invite(t, "c@harbour.example", access.Editor)).shows(200, "Join "+c.team.Name)
	})
}

func TestRecovery(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		before := c.as(t, access.Client)
		r := must.Get(h.Teams.Recover(t.Context(), c.people[access.Client].Email))(t)
		path := team.RecoveryPath + r.Token
		b := h.browser(t)
		b.open(path).shows(200, "Set a new password", c.people[access.Client].Email)
		b.open(path).form("Set password").fill("password", "short").press().shows(422, "at least 12 characters")
		b.open(path).form("Set password").fill("password", newPassword).press().shows(200, "Your new password is set.", "Your account")
		if before.signedIn() {
			t.Error("an earlier session still works")
		}
		h.browser(t).open(path).shows(422, "already been used")
		h.browser(t).send(http.MethodPost, path, url.Values{"password": {newPassword}}).shows(422, "already been used")
		late := must.Get(h.Teams.Recover(t.Context(), c.people[access.Client].Email))(t)
		h.advance(time.Hour + time.Second)
		b.open(team.RecoveryPath+late.Token).shows(422, "has expired")
		b.open(team.RecoveryPath+"guessed").shows(404, "This link does not work")
	})
}

// Pages follow the system until a person chooses a color scheme. Another value is rejected.
func TestAppearance(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		b.open("/posts?status=draft").contains(`content="light dark"`).form("Dark").press().
			shows(http.StatusOK).contains(` data-scheme="dark"`, `<meta name="color-scheme" content="dark">`)
		f := b.open("/posts").form("Light")
		f.values.Set("scheme", "sepia")
		b.send(http.MethodPost, "/appearance", f.values).shows(http.StatusUnprocessableEntity, "Choose System, Light or Dark.")
		b.open("/account").contains(` data-scheme="dark"`).form("System").press().shows(http.StatusOK).contains(`content="light dark"`)
	})
}

// Cross-site requests are rejected.
func TestCrossSiteRequests(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		path := c.invite(t, "x@harbour.example", access.Editor)
		for _, at := range []string{
			"/sign-in", "/sign-in/passkey", "/sign-in/passkey/options", "/sign-out", "/account/password",
			"/account/sessions/end", path + "/join", path + "/accept", team.RecoveryPath + "x",
		} {
			r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, h.root+at, strings.NewReader("")))(t)
			r.Header.Set("Origin", "https://evil.example")
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			resp := must.Get(b.http.Do(r))(t)
			resp.Body.Close()
			if resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s: %d", at, resp.StatusCode)
			}
		}
		if !b.signedIn() {
			t.Error("another site ended the session")
		}
	})
}
