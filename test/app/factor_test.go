package app

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/hotp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/web/shell"
)

// app is a person's authenticator app.
type app struct {
	h      *env
	secret string
	codes  []string // recovery codes
}

// code returns the current code. It advances the clock first, because each code is accepted once.
func (a *app) code(tb testing.TB) string {
	tb.Helper()
	a.h.advance(time.Minute)
	out := must.Get(hotp.GenerateCode(a.secret, uint64(a.h.now().Unix()/30)))(tb)
	return out
}

var (
	secretShown = regexp.MustCompile(`<span>([A-Z2-7]{4})</span><wbr>`)
	codeShown   = regexp.MustCompile(`<li><code>([A-Z2-7-]+)</code>`)
)

// secret returns the secret that the setup page shows.
func (p *page) secret() string {
	out := ""
	for _, m := range secretShown.FindAllStringSubmatch(p.source, -1) {
		out += m[1]
	}
	return out
}

// addApp adds an authenticator app in the browser of a person who has just signed in.
func (h *env) addApp(tb testing.TB, b *browser) *app {
	tb.Helper()
	p := b.open("/account/authenticator/new").shows(200, "Scan this QR code").contains("<svg")
	a := &app{h: h, secret: p.secret()}
	done := p.form("Add app").fill("code", a.code(tb)).press().shows(200, "Save your recovery codes", "signed out everywhere else")
	for _, m := range codeShown.FindAllStringSubmatch(done.source, -1) {
		a.codes = append(a.codes, m[1])
	}
	if len(a.codes) != 10 {
		tb.Fatalf("%d recovery codes", len(a.codes))
	}
	return a
}

// enterPassword enters the password of the member with the given role and returns the page that asks for the code.
func (c *crew) enterPassword(t *testing.T, role access.Role) (*browser, *page) {
	t.Helper()
	b := c.browser(t)
	p := b.open("/sign-in").form("Sign in").fill("email", c.people[role].Email).fill("password", password).press()
	return b, p.shows(200, "Two-factor authentication").lacks(c.team.Name)
}

// After the password, a valid code is required, and each code is accepted once.
func TestAuthenticatorApp(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		before, b := c.as(t, access.Editor), c.as(t, access.Editor)
		a := h.addApp(t, b)
		if !b.signedIn() || before.signedIn() {
			t.Errorf("signed in here: %t; in the session before the app: %t", b.signedIn(), before.signedIn())
		}
		b.open("/account").shows(200, "You have 10 recovery codes left")
		b.open("/notices").shows(200, "An authenticator app was added").lacks("a browser that we do not recognize")

		b, asked := c.enterPassword(t, access.Editor)
		token := b.token()
		if b.signedIn() || h.count(t, "sessions WHERE person_id = ?", c.people[access.Editor].ID) != 1 {
			t.Error("the password alone signs in")
		}
		for _, path := range []string{"/", "/posts", "/account", "/settings/team", "/notices"} {
			b.open(path).lacks(c.team.Name)
		}
		asked.form("Sign in").fill("code", "000000").press().shows(401, "not valid")
		code := a.code(t)
		asked.form("Sign in").fill("code", code).press().shows(200, c.team.Name)
		if b.token() == token {
			t.Error("the session token was not renewed after the code")
		}
		b, asked = c.enterPassword(t, access.Editor)
		asked.form("Sign in").fill("code", code).press().shows(401, "not valid")
		if b.signedIn() {
			t.Error("a code signs in twice")
		}
		asked.form("Sign in").fill("code", a.code(t)).press().shows(200, c.team.Name)

		// An unfinished sign-in expires after five minutes, ends with a password change, and fails in another browser.
		_, asked = c.enterPassword(t, access.Editor)
		h.advance(5 * time.Minute)
		asked.form("Sign in").fill("code", a.code(t)).press().shows(422, "This sign-in has expired")
		_, asked = c.enterPassword(t, access.Editor)
		must.NoError(t, h.Teams.EndSessions(t.Context(), c.people[access.Editor].ID))
		asked.form("Sign in").fill("code", a.code(t)).press().shows(422, "This sign-in has expired")
		h.browser(t).send(http.MethodPost, "/sign-in/code", url.Values{"code": {a.code(t)}}).shows(422, "This sign-in has expired")
	})
}

// Code guesses are throttled per person, from any IP address. A recovery code still works.
func TestCodeGuessesThrottled(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		a := h.addApp(t, c.as(t, access.Editor))
		_, asked := c.enterPassword(t, access.Editor)
		for range 5 {
			asked.form("Sign in").fill("code", "000000").press().shows(401, "not valid")
		}
		_, other := c.enterPassword(t, access.Editor)
		late := must.Get(hotp.GenerateCode(a.secret, uint64(h.now().Unix()/30+1)))(t)
		other.form("Sign in").fill("code", late).press().shows(429, "Too many wrong codes.")
		other.form("Sign in with a recovery code").fill("recovery", a.codes[0]).press().shows(200, c.team.Name)
	})
}

// A recovery code signs in once.
func TestRecoveryCodeWorksOnce(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		a := h.addApp(t, c.as(t, access.Editor))
		_, asked := c.enterPassword(t, access.Editor)
		b, other := c.enterPassword(t, access.Editor)
		other.form("Sign in with a recovery code").fill("recovery", strings.ToLower(a.codes[2])).press().
			shows(200, c.team.Name, "You have 9 recovery codes left")
		asked.form("Sign in with a recovery code").fill("recovery", a.codes[2]).press().shows(401, "used before")
		if n := h.count(t, "events WHERE kind = 'totp.recovery_code_used'"); n != 1 {
			t.Errorf("%d events", n)
		}
		made := b.open("/account/authenticator").form("Generate new recovery codes").press().shows(200, "Save your recovery codes")
		asked.form("Sign in with a recovery code").fill("recovery", a.codes[3]).press().shows(401, "used before")
		asked.form("Sign in with a recovery code").fill("recovery", codeShown.FindStringSubmatch(made.source)[1]).
			press().shows(200, c.team.Name)
		h.advance(stale)
		b.send(http.MethodPost, "/account/authenticator/codes", url.Values{}).shows(200, "Sign in again")
		b.send(http.MethodPost, "/account/authenticator/remove", url.Values{}).shows(200, "Sign in again")
		b.open("/sign-in?again=1&next=/account/authenticator").form("Confirm").fill("password", password).press().
			form("Sign in").fill("code", a.code(t)).press().shows(200, "Authenticator app")
		b.open("/account/authenticator").form("Remove the authenticator app").press().shows(200, "The authenticator app was removed.")
		c.as(t, access.Editor)
	})
}

// Input at the end of a session survives a sign-in with password and code.
func TestCodeKeepsInput(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		a := h.addApp(t, b)
		form := b.open("/settings/keys/new").form("Create key").fill("name", "Kept <name>")
		must.NoError(t, h.Teams.EndSessions(t.Context(), c.people[access.Owner].ID))
		asked := form.press().shows(200, "Your input will be restored").form("Sign in").fill("email", c.people[access.Owner].Email).
			fill("password", password).press().shows(200, "Two-factor authentication")
		asked.form("Sign in").fill("code", "123").press().shows(401)
		page := asked.form("Sign in").fill("code", a.code(t)).press().shows(200, "New API key")
		if got := page.form("Create key").values.Get("name"); got != "Kept <name>" {
			t.Errorf("%q", got)
		}
	})
}

// Neither an invitation nor another person's sign-in skips the code. The operator's recovery link removes the app.
func TestCodeCannotBeSkipped(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		a := h.addApp(t, c.as(t, access.Editor))
		h.change(t, `UPDATE people SET email_proved_at = 1 WHERE id = ?`, c.people[access.Editor].ID)
		path := other.invite(t, c.people[access.Editor].Email, access.Viewer)
		b := h.browser(t)
		asked := b.send(http.MethodPost, path+"/sign-in", url.Values{"password": {password}}).
			shows(200, "Two-factor authentication").lacks(c.team.Name)
		if b.signedIn() || h.count(t, "memberships WHERE team_id = ? AND person_id = ?", other.team.ID, c.people[access.Editor].ID) != 0 {
			t.Error("an invitation was accepted with the password alone")
		}
		b.send(http.MethodPost, path+"/accept", url.Values{}).shows(200, "Sign in")
		asked.form("Sign in").fill("code", a.code(t)).press().shows(200, "You joined the team.", other.team.Name)

		// A code completes the sign-in of the person who entered the password, even if another person is signed in.
		b = c.as(t, access.Viewer)
		asked = b.send(http.MethodPost, "/sign-in",
			url.Values{"email": {c.people[access.Editor].Email}, "password": {password}}).shows(200, "Two-factor authentication")
		b.open("/account").shows(200, c.people[access.Viewer].Email)
		asked.form("Sign in").fill("code", a.code(t)).press()
		b.open("/account").shows(200, c.people[access.Editor].Email)

		recovery := must.Get(h.Teams.Recover(t.Context(), c.people[access.Editor].Email))(t)
		b = h.browser(t)
		b.open("/recovery/"+recovery.Token).form("Set password").fill("password", newPassword).press().shows(200)
		if n := h.count(t, "totp_secrets") + h.count(t, "totp_recovery_codes"); n != 0 || h.count(t,
			"events WHERE kind = 'totp.removed'") != 1 {
			t.Errorf("%d rows of the app remain", n)
		}
		if !h.signIn(t, c.people[access.Editor].Email, newPassword).signedIn() {
			t.Error("the new password does not work")
		}
	})
}

// ownOnly reports whether an answer only redirects to the second factor or the person's own account.
func (a *visitor) ownOnly(pattern string, got answer) bool {
	switch {
	case got.status == http.StatusSeeOther && got.location == shell.FactorPath,
		got.status == http.StatusForbidden && strings.Contains(got.body, "Second factor required"):
		return true
	}
	path := strings.Fields(pattern)[len(strings.Fields(pattern))-1]
	for _, own := range []string{
		"/account", "/setup", "/sign-in", "/sign-out", "/invitation/", "/recovery/", "/confirm-email/", "/docs", "/approval/", "/networks/",
		"/help", "/sign-up", "/forgot-password", "/recover",
	} {
		if strings.HasPrefix(path, own) {
			return true
		}
	}
	return false
}

// If the owner requires a second factor, members who signed in with only a password can open nothing.
func TestOwnerRequiresSecondFactor(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		m := newAccessTest(t, h)
		owner := m.as(t, access.Owner)
		owner.open("/settings/team").form("Require two-factor authentication").press().shows(422, "to your own account first")
		h.addApp(t, owner)
		owner.open("/settings/members").shows(200, "authenticator app", "2FA off")
		owner.open("/settings/team").form("Require two-factor authentication").press().
			shows(200, "Members now need two-factor authentication.")
		if n := h.count(t, "events WHERE kind = 'team.second_factor' AND team_id = ?", m.team.ID); n != 1 {
			t.Errorf("%d events", n)
		}
		m.recordTables()
		admin := m.visitor("admin")
		tried := 0
		for _, route := range m.program {
			if strings.HasPrefix(route.Pattern, "GET /assets/") || strings.HasPrefix(route.Pattern, "GET /files/") ||
				strings.HasPrefix(route.Pattern, "/uploads/") || strings.Contains(route.Pattern, "/.well-known/") ||
				strings.HasPrefix(route.Pattern, "OPTIONS ") || strings.HasPrefix(route.Pattern, "GET /shared/") ||
				route.Pattern == "GET /unsubscribe/{token}" || matrix[route.Pattern].allowsCrossOrigin {
				continue // these ignore the session
			}
			method, path := m.methodAndPath(route.Pattern, m.samples)
			form := m.formValues[route.Pattern]
			if method == http.MethodPost && form == nil {
				form = matrix[route.Pattern].form
			}
			if method == http.MethodPost && route.AllowsOneFactor || route.Audience == shell.Operators {
				continue // these concern the person's own account, or do not exist for this person
			}
			tried++
			if got := admin.request(method, path, form, nil); !admin.ownOnly(route.Pattern, got) {
				t.Errorf("%s: %d %s", route.Pattern, got.status, got.location)
			}
			script := admin.request(method, path, form, http.Header{"Sec-Fetch-Dest": {"empty"}})
			if !route.AllowsOneFactor && (script.status != http.StatusForbidden || strings.Contains(script.body,
				marker+".test")) {
				t.Errorf("%s requested by a script: %d", route.Pattern, script.status)
			}
		}
		if tried < 100 {
			t.Errorf("%d routes were tried", tried)
		}
		m.checkUnchanged("all addresses", "a member without the required second factor", false)

		// Adding a second factor opens the requested page.
		b := m.signIn(t, access.Viewer)
		p := b.open("/posts").
			shows(200, "Set up two-factor authentication", m.team.Name,
				"API keys keep working in the meantime", "stop working within an hour")
		p.follow("Add an authenticator app").shows(200, "Scan this QR code")
		h.addApp(t, b)
		b.open("/posts").shows(200, "Posts")
		b.open("/account/authenticator").shows(200, "so you cannot remove it").
			lacks("with only your password", "Remove the authenticator app")
		b.send(http.MethodPost, "/account/authenticator/remove", url.Values{}).shows(422, "this is your only one")
	})
}

// signIn signs in the member with the given role without checking the first page.
func (c *crew) signIn(t *testing.T, role access.Role) *browser {
	t.Helper()
	b := c.browser(t)
	b.open("/sign-in").form("Sign in").fill("email", c.people[role].Email).fill("password", password).press().shows(200)
	return b
}

// If the owner begins to require a second factor while a person fills in a form, the input is kept until the person
// adds one. Files must be chosen again, and their names are listed.
func TestRequirementKeepsInput(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		for button, path := range map[string]string{"Create list": "/hashtags/new?name=", "Save draft": "/posts/new?caption="} {
			c := h.crew(t)
			b := c.as(t, access.Editor)
			form := b.open(path + "Typed+before").form(button)
			must.NoError(t, h.Teams.Admin(c.people[access.Owner].ID, c.team.ID).SetSecondFactor(t.Context(), true))
			want := "Not uploaded: quay.png. Choose these files again."
			if button == "Create list" {
				form.fill("name", "Typed before").press().shows(200, "Set up two-factor authentication")
				want = "New hashtag list"
			} else {
				form.attach("quay.png", colorPNG(t, 3)).shows(200, "Set up two-factor authentication")
			}
			p := b.open("/account/authenticator/new")
			a := &app{h: h}
			for _, m := range secretShown.FindAllStringSubmatch(p.source, -1) {
				a.secret += m[1]
			}
			page := p.form("Add app").fill("code", a.code(t)).press().follow("I have saved them").shows(200, want)
			if got := page.form(button).values; got.Get("name")+got.Get("caption") != "Typed before" {
				t.Errorf("%v", got)
			}
		}
	})
}

// The server can require a second factor for operators' pages, or for everybody.
func TestOperatorRequiresSecondFactor(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"operators", "everyone"} {
		testkit.EachDatabase(t, func(t *testing.T, at string) {
			t.Parallel()
			h := open(t, at, func(cfg *server.Config) { cfg.SecondFactor = who })
			c := h.crew(t)
			must.Get(h.Teams.SetOperator(t.Context(), c.people[access.Owner].Email, true))(t)
			b := c.signIn(t, access.Owner)
			for _, path := range []string{
				"/operator", "/operator/people", "/operator/events.jsonl", fmt.Sprint("/operator/teams/", c.team.ID),
			} {
				b.open(path).shows(200, "Set up two-factor authentication")
			}
			closed := who == "everyone"
			for _, path := range []string{"/", "/posts", "/notices", "/settings/export", "/settings/members"} {
				if p := b.open(path); strings.Contains(p.text(), "Set up two-factor authentication") != closed {
					t.Errorf("%s: %s", path, p.text())
				}
			}
			c.signIn(t, access.Viewer).open("/operator").lacks("operator pages")
			b.open("/account").shows(200, "Your account")
			h.addApp(t, b)
			b.open("/operator").shows(200, "Operator")
			b.open("/posts").shows(200, "Posts")
			// From now on, every sign-in requires the code.
			c.enterPassword(t, access.Owner)
		})
	}
}
