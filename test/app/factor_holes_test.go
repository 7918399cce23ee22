package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/authenticator"
	"pressroom.example/pressroom/internal/testkit/must"
)

// requireFactor makes the team require a second factor.
func (c *crew) requireFactor(t *testing.T) {
	t.Helper()
	must.NoError(t, c.Teams.Admin(c.people[access.Owner].ID, c.team.ID).SetSecondFactor(t.Context(), true))
}

// addPasskey adds a passkey in the browser of a person who has just signed in.
func (b *browser) addPasskey(origin string) *authenticator.Device {
	b.t.Helper()
	device := &authenticator.Device{Origin: origin}
	made := must.Get(device.Create(b.passkeyOptions("/account/passkeys/options")))(b.t)
	b.send(http.MethodPost, "/account/passkeys", url.Values{"name": {"Phone"}, "passkey": {string(made)}}).
		shows(200, "The passkey was added.")
	return device
}

// withPasskeys runs a test with a public URL that supports passkeys.
func withPasskeys(t *testing.T, f func(t *testing.T, h *env, origin string)) {
	t.Parallel()
	const origin = "http://press.example"
	testkit.EachDatabase(t, func(t *testing.T, at string) {
		t.Parallel()
		f(t, open(t, at, func(cfg *server.Config) { cfg.PublicURL = origin }), origin)
	})
}

// If a passkey is required, the password alone does not suffice to add or remove a factor, to change the password, to
// leave the team or to delete the account.
func TestFactorChangeRequirements(t *testing.T) {
	withPasskeys(t, func(t *testing.T, h *env, origin string) {
		c := h.crew(t)
		device := c.as(t, access.Editor).addPasskey(origin)
		c.requireFactor(t)
		person := c.people[access.Editor]
		thief := c.signIn(t, access.Editor)
		const asked = "Sign in with your passkey"
		var passkey int64
		must.NoError(t, h.db.QueryRow(t.Context(), `SELECT id FROM passkeys WHERE person_id = ?`, person.ID).Scan(&passkey))
		leave := fmt.Sprintf("/account/teams/%d/leave", c.team.ID)
		for _, path := range []string{
			"/", "/account/authenticator/new", "/account/passkeys/new", "/account/password", "/account/delete", leave,
		} {
			thief.open(path).shows(200, asked)
		}
		for path, form := range map[string]url.Values{
			"/account/authenticator/new":                        {"code": {"000000"}},
			"/account/authenticator/codes":                      {},
			"/account/authenticator/remove":                     {},
			"/account/passkeys/options":                         {},
			"/account/passkeys":                                 {"name": {"Thief's"}, "passkey": {"{}"}},
			fmt.Sprintf("/account/passkeys/%d/remove", passkey): {},
			"/account/password":                                 {"old": {password}, "password": {newPassword}},
			"/account/delete":                                   {"email": {person.Email}},
			leave:                                               {},
		} {
			thief.send(http.MethodPost, path, form).shows(200, asked)
		}
		for row, want := range map[string]int{
			"passkeys WHERE person_id = ?": 1, "totp_secrets WHERE person_id = ?": 0, "memberships WHERE person_id = ?": 1,
			"people WHERE deleted_at = 0 AND id = ?": 1,
		} {
			if n := h.count(t, row, person.ID); n != want {
				t.Errorf("%d %s, want %d", n, row, want)
			}
		}
		if !c.signIn(t, access.Editor).signedIn() {
			t.Error("the password was changed")
		}
		thief.signInWithPasskey(device).open("/account/authenticator/new").shows(200, "Scan this QR code")
	})
}

// The last required factor cannot be removed, neither on its page nor by changing the password.
func TestLastFactorCannotBeRemoved(t *testing.T) {
	withPasskeys(t, func(t *testing.T, h *env, origin string) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		b.addPasskey(origin)
		h.addApp(t, b)
		c.requireFactor(t)
		person := c.people[access.Editor].ID
		var passkey int64
		must.NoError(t, h.db.QueryRow(t.Context(), `SELECT id FROM passkeys WHERE person_id = ?`, person).Scan(&passkey))
		change := url.Values{"old": {password}, "password": {newPassword}}
		b.send(http.MethodPost, "/account/password", change).shows(422, "Keep your authenticator app or one of your passkeys.")
		if n := h.count(t, "passkeys WHERE person_id = ?", person) + h.count(t, "totp_secrets WHERE person_id = ?", person); n != 2 {
			t.Errorf("%d factors remain after a rejected change", n)
		}
		b.open("/account/authenticator").form("Remove the authenticator app").press().shows(200, "The authenticator app was removed.")
		b.send(http.MethodPost, fmt.Sprintf("/account/passkeys/%d/remove", passkey), url.Values{}).shows(422, "this is your only one")
		b.send(http.MethodPost, "/account/password", change).shows(422, "Keep your authenticator app or one of your passkeys.")
		change["keep"] = []string{fmt.Sprint("passkey-", passkey)}
		b.send(http.MethodPost, "/account/password", change).shows(200, "Your password was changed.")
		if n := h.count(t, "passkeys WHERE person_id = ?", person); n != 1 {
			t.Errorf("%d passkeys", n)
		}
	})
}

// Changing the password keeps the authenticator app by default. Recovery removes it by default, and requires a code
// to keep it.
func TestNewPasswordWithAuthenticatorApp(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		email := c.people[access.Editor].Email
		a := h.addApp(t, b)
		has := func(want int) {
			t.Helper()
			if n := h.count(t, "totp_secrets"); n != want {
				t.Errorf("%d authenticator apps, want %d", n, want)
			}
		}
		b.open("/account/password").form("Change password").fill("old", password).fill("password", newPassword).press().
			shows(200, "Your password was changed.")
		has(1)
		recovery := func() *form {
			t.Helper()
			r := must.Get(h.Teams.Recover(t.Context(), email))(t)
			return h.browser(t).open(team.RecoveryPath + r.Token).form("Set password")
		}
		kept := recovery()
		if kept.values.Has("keep") {
			t.Error("recovery keeps credentials by default")
		}
		kept.values["keep"] = []string{team.AppID}
		asked := kept.fill("password", password).press().shows(200, "Two-factor authentication")
		has(1)
		if asked.b.signedIn() {
			t.Error("recovery signs in without the code of the kept app")
		}
		asked.form("Sign in").fill("code", a.code(t)).press().shows(200, "Your account")

		b = asked.b
		cleared := b.open("/account/password").form("Change password")
		cleared.values.Del("keep")
		cleared.fill("old", password).fill("password", newPassword).press().shows(200, "Your password was changed.")
		has(0)
		if n := h.count(t, "totp_recovery_codes"); n != 0 {
			t.Errorf("%d recovery codes remain after the app was removed", n)
		}
		if !h.signIn(t, email, newPassword).signedIn() {
			t.Error("the password alone does not sign in after the app was removed")
		}
	})
}

// If one of a person's teams requires a second factor, the person needs it in every team.
func TestFactorAppliesAcrossTeams(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		strict, lax := h.crew(t), h.crew(t)
		must.NoError(t, h.Teams.SetMember(t.Context(), lax.team.ID, strict.people[access.Editor].ID, access.Admin))
		b := strict.as(t, access.Editor)
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(lax.team.ID)}}).shows(200, lax.team.Name)
		strict.requireFactor(t)
		for _, of := range []*crew{lax, strict} {
			b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(of.team.ID)}}).shows(200, "Set up two-factor authentication")
			for _, path := range []string{
				"/", "/posts", "/posts/new", "/media", "/accounts", "/notices", "/settings/team", "/settings/members",
				"/settings/keys/new", "/settings/export.zip",
			} {
				b.open(path).shows(200, "Set up two-factor authentication")
			}
		}
		b.send(http.MethodPost, "/settings/keys", url.Values{"name": {"Key"}, "level": {"full"}}).
			shows(200, "Set up two-factor authentication")
		if n := h.count(t, "api_keys"); n != 0 {
			t.Errorf("%d keys", n)
		}
		b.open(fmt.Sprintf("/account/teams/%d/leave", strict.team.ID)).shows(200, "Leave team")
	})
}

// Authorizing an assistant needs a recent sign-in and every required factor.
func TestConsentRequiresRecentSignIn(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		program := c.register(t)
		b := c.as(t, access.Owner).keepRedirects()
		asked := b.open(program.authorizeURL()).shows(200, "It wants to act for you in pressroom.").form("Allow").fill("level", "read_only")
		h.advance(stale)
		again := asked.press().shows(200, "Sign in again")
		if n := h.count(t, "oauth_grants"); n != 0 {
			t.Fatalf("%d grants without a recent sign-in", n)
		}
		page := again.form("Confirm").fill("password", password).press().shows(200, "It wants to act for you in pressroom.")
		resumed := page.form("Allow")
		if got := resumed.values.Get("level"); got != "read_only" {
			t.Errorf("level = %q after signing in again", got)
		}
		if resumed.press().redirectParams().Get("code") == "" {
			t.Error("the redirect has no code")
		}

		form := b.open(program.authorizeURL()).form("Allow").fill("level", "read_only")
		before := h.count(t, "oauth_grants")
		c.requireFactor(t)
		if p := form.press(); !strings.Contains(p.text(), "Set up two-factor authentication") || h.count(t, "oauth_grants") != before {
			t.Errorf("an assistant was authorized without the required factor: %s", p.text())
		}
	})
}

// Once the team requires two factors, codes and refresh tokens granted without a second factor stop working. Grants
// with two factors still work.
func TestOneFactorGrantsEnd(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		weak, strong := c.register(t), c.register(t)
		editor := c.as(t, access.Editor)
		status, got := weak.exchange(weak.code(editor.keepRedirects(), "read_only"))
		tokens := weak.wantTokens(status, got)
		owner := c.as(t, access.Owner)
		h.addApp(t, owner)
		status, got = strong.exchange(strong.code(owner.keepRedirects(), "read_only"))
		kept := strong.wantTokens(status, got)
		code := weak.code(editor.keepRedirects(), "read_only")
		c.requireFactor(t)
		for what, try := range map[string]func() (int, map[string]any){
			"a code":          func() (int, map[string]any) { return weak.exchange(code) },
			"a refresh token": func() (int, map[string]any) { return weak.refresh(tokens.refresh) },
		} {
			status, got := try()
			if text := fmt.Sprint(got["error_description"]); status != http.StatusBadRequest ||
				got["error"] != "invalid_grant" || !strings.Contains(text, "requires a second factor") {
				t.Errorf("%s: %d %v", what, status, got)
			}
		}
		if n := h.count(t, "api_keys WHERE kind = 'assistant' AND revoked_at = 0"); n != 1 {
			t.Errorf("%d connections remain, want only the owner's", n)
		}
		status, got = strong.refresh(kept.refresh)
		strong.wantTokens(status, got)
	})
}
