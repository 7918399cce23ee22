package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/oidcserver"
)

// stale is longer than the time for which a sign-in counts as recent.
const stale = 16 * time.Minute

// Creating a key requires a recent sign-in. After signing in again, the form is still filled in.
func TestNewKeyRequiresRecentSignIn(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		form := b.open("/settings/keys/new").form("Create key").fill("name", "Nightly <export>").
			fill("level", "full").fill("daily_credits", "41")
		h.advance(stale)
		asked := form.press().shows(200, "Sign in again")
		if n := h.count(t, "api_keys WHERE team_id = ?", c.team.ID); n != 0 {
			t.Fatalf("%d keys were created without a recent sign-in", n)
		}
		asked.form("Confirm").fill("password", "wrong").press().shows(401)
		page := asked.form("Confirm").fill("password", password).press().shows(200, "New API key", "Nothing has been saved")
		again := page.form("Create key")
		for name, want := range map[string]string{"name": "Nightly <export>", "level": "full", "daily_credits": "41"} {
			if got := again.values.Get(name); got != want {
				t.Errorf("field %s = %q, want %q", name, got, want)
			}
		}
		again.press().shows(200, "Nightly <export>")
		if n := h.count(t, "api_keys WHERE team_id = ? AND level = 'full'", c.team.ID); n != 1 {
			t.Errorf("%d keys", n)
		}
	})
}

// The form for invitations is open after signing in again, so that people see their input.
func TestInvitationAfterSigningInAgain(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		b := h.crew(t).as(t, access.Owner)
		form := b.open("/settings/members").form("Create invitations").fill("email", "new@harbour.example")
		h.advance(stale)
		page := form.press().shows(200, "Sign in again").form("Confirm").fill("password", password).press().
			shows(200, "Nothing has been saved").contains(`id="invite" open`)
		if got := page.form("Create invitations").values.Get("email"); strings.TrimSpace(got) != "new@harbour.example" {
			t.Errorf("the input is lost: %q", got)
		}
	})
}

// Everything that gives access or data requires a recent sign-in.
func TestStepUp(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		must.Get(h.Teams.SetOperator(t.Context(), c.people[access.Owner].Email, true))(t)
		b := c.as(t, access.Owner)
		b.open("/settings/keys/new").form("Create key").fill("name", "One").fill("level", string(access.ReadOnly)).press().shows(200)
		var key string
		must.NoError(t, h.db.QueryRow(t.Context(), `SELECT CAST(id AS TEXT) FROM api_keys WHERE team_id = ?`, c.team.ID).Scan(&key))
		h.connectAssistant(t, c.people[access.Owner].ID)
		must.NoError(t, h.Teams.Admin(c.people[access.Owner].ID, c.team.ID).SetAccess(t.Context(), false))
		channel := fmt.Sprint(must.Get(h.Notifications.AddChannel(t.Context(), notification.NewChannel{
			Service: notification.Slack, Name: "On call", URL: "https://hooks.slack.example.com/services/x",
		}))(t).ID)
		h.advance(stale)
		var assistant string
		must.NoError(t, h.db.QueryRow(t.Context(), `SELECT CAST(id AS TEXT) FROM api_keys WHERE kind = 'assistant'`).Scan(&assistant))
		team, viewer := fmt.Sprint(c.team.ID), fmt.Sprint(c.people[access.Viewer].ID)
		for _, form := range []struct {
			path   string
			values url.Values
		}{
			{"/settings/keys", url.Values{"name": {"Two"}, "level": {"full"}}},
			{"/settings/keys/" + key, url.Values{"level": {"full"}}},
			{"/settings/members/" + viewer + "/owner", nil},
			{"/settings/members/" + viewer, url.Values{"role": {"admin"}}},
			{"/settings/invitations", url.Values{"email": {"mallory@harbour.example"}, "role": {"admin"}}},
			{"/settings/invitations/1/confirm", nil},
			{"/settings/delete", url.Values{"name": {c.team.Name}}},
			{"/account/passkeys/1/remove", nil},
			{"/account/delete", url.Values{"email": {c.people[access.Owner].Email}}},
			{"/operator/teams/" + team + "/credits", url.Values{"credits": {"1000"}, "reference": {"r"}}},
			{"/settings/credits/limit", url.Values{"daily_credits": {"1000000"}}},
			{"/settings/assistants/" + assistant, url.Values{"daily_credits": {"1000000"}}},
			{"/settings/access", url.Values{"access": {"on"}}},
			{"/settings/members/" + viewer + "/remove", nil},
			{"/account/sessions/end", nil},
			{"/account/sessions/1/end", nil},
			{"/operator/teams", url.Values{
				"name": {"Two"}, "owner": {c.people[access.Owner].Email}, "timezone": {"UTC"}, "plan": {"team"},
			}},
			{"/operator/teams/" + team + "/plan", url.Values{"plan": {"agency"}}},
			{"/operator/teams/" + team + "/limit", url.Values{"credits": {"1000000"}}},
			{"/operator/teams/" + team + "/close", nil},
			{"/operator/people/" + viewer + "/operator", url.Values{"operator": {"yes"}}},
			{"/operator/people/" + viewer + "/recovery", nil},
			{"/operator/teams/" + team + "/reopen", nil},
			{"/operator/people/" + viewer + "/hold", url.Values{"held": {"yes"}}},
			{"/operator/api", url.Values{"api": {"off"}}},
			{"/operator/channels", url.Values{"name": {"x"}, "url": {"https://hooks.slack.example.com/x"}}},
			{"/operator/channels/" + channel, url.Values{"name": {"x"}, "url": {"https://hooks.slack.example.com/x"}}},
			{"/operator/channels/" + channel + "/remove", nil},
		} {
			if p := b.send(http.MethodPost, form.path, form.values); !strings.Contains(p.text(), "Sign in again") {
				t.Errorf("POST %s: %d %s", form.path, p.status, p.text())
			}
		}
		for _, path := range []string{"/settings/export.zip", "/account/passkeys/new", "/operator/channels/" + channel + "/secret"} {
			b.open(path).shows(200, "Sign in again")
		}
		for _, none := range []string{
			"api_keys WHERE level = 'full'", "memberships WHERE role IN ('owner', 'admin') AND person_id = " + viewer,
			"invitations", "teams WHERE closed_at > 0 OR deleted_at > 0 OR name = 'Two'",
			"people WHERE operator = 1 AND id = " + viewer, "recoveries", "people WHERE deleted_at > 0 OR held_at > 0",
			"api_keys WHERE daily_credits > 0", "teams WHERE daily_credits > 0 OR own_daily_credits > 0 OR access_off_at = 0",
			"events WHERE kind IN ('notice_channel.changed', 'notice_channel.removed', 'notice_channel.secret_shown')",
		} {
			if n := h.count(t, none); n != 0 {
				t.Errorf("%d %s", n, none)
			}
		}
	})
}

// People with an authenticator app step up with password and code, or with a passkey. The password alone does not
// suffice.
func TestStepUpRequiresSecondFactor(t *testing.T) {
	withPasskeys(t, func(t *testing.T, h *env, origin string) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		a := h.addApp(t, b)
		form := b.open("/settings/keys/new").form("Create key").fill("name", "Nightly").fill("level", "full")
		h.advance(stale)
		code := form.press().shows(200, "Sign in again").form("Confirm").fill("password", password).press().
			shows(200, "Two-factor authentication").form("Sign in")
		b.open("/account/passkeys/new").shows(200, "Sign in again")
		code.fill("code", "000000").press().shows(401, "not valid")
		b.open("/account/passkeys/new").shows(200, "Sign in again")
		page := code.fill("code", a.code(t)).press().shows(200, "New API key", "Nothing has been saved")
		if got := page.form("Create key").values.Get("name"); got != "Nightly" {
			t.Errorf("name field = %q", got)
		}

		editor := c.as(t, access.Editor)
		device := editor.addPasskey(origin)
		h.advance(stale)
		again := editor.open("/account/passkeys/new").shows(200, "Sign in again").form("Confirm").fill("password", password)
		again.press().shows(422, "Sign in with your passkey.")
		editor.open("/account/passkeys/new").shows(200, "Sign in again")
		editor.signInWithPasskey(device)
		editor.open("/account/passkeys/new").shows(200, "Add a passkey")
	})
}

// Changing the password requires a recent sign-in with both factors and does not count as a sign-in. The password
// alone therefore cannot remove the authenticator app.
func TestPasswordChangeStepUp(t *testing.T) {
	withPasskeys(t, func(t *testing.T, h *env, origin string) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		a := h.addApp(t, b)
		b.open("/settings/keys/new").form("Create key").fill("name", "Nightly").fill("level", "full").press().shows(200)
		form := b.open("/account/password").form("Change password")
		form.values["revoke"] = []string{"key-1"}
		h.advance(stale)
		change := url.Values{"old": {password}, "password": {newPassword}}
		for _, keep := range [][]string{{team.AppID}, nil} {
			change["keep"] = keep
			b.send(http.MethodPost, "/account/password", change).shows(200, "Sign in again")
		}
		b.open("/account/password").shows(200, "Sign in again")
		b.open("/settings/keys/new").form("Create key").fill("name", "Two").fill("level", "full").press().shows(200, "Sign in again")
		if n := h.count(t, "totp_secrets"); n != 1 {
			t.Errorf("%d authenticator apps remain", n)
		}
		asked := form.fill("old", password).fill("password", newPassword).press().shows(200, "Sign in again").form("Confirm").
			fill("password", password).press().shows(200, "Two-factor authentication").form("Sign in")
		again := asked.fill("code", a.code(t)).press().shows(200, "Change your password").lacks(newPassword).form("Change password")
		if keep, revoke := again.values["keep"], again.values["revoke"]; len(keep) != 1 || keep[0] != team.AppID ||
			len(revoke) != 1 || again.values.Get("password") != "" {
			t.Errorf("keep = %q, revoke = %q", keep, revoke)
		}
		h.advance(10 * time.Minute)
		again.fill("old", password).fill("password", newPassword).press().shows(200, "Your password was changed.")
		h.advance(10 * time.Minute)
		b.open("/account/passkeys/new").shows(200, "Sign in again")

		editor := c.as(t, access.Editor)
		device := editor.addPasskey(origin)
		editor.signInWithPasskey(device)
		h.advance(stale)
		editor.send(http.MethodPost, "/account/password", url.Values{"old": {password}, "password": {newPassword}}).
			shows(200, "Sign in again")
		editor.open("/account/passkeys/new").shows(200, "Sign in again")
		if n := h.count(t, "passkeys WHERE person_id = ?", c.people[access.Editor].ID); n != 1 {
			t.Errorf("%d passkeys remain", n)
		}
		editor.signInWithPasskey(device).open("/account/password").form("Change password").fill("old",
			password).fill("password", newPassword).
			press().shows(200, "Your password was changed.")
	})
}

// Input before a step-up is not shown to another person.
func TestStepUpByOtherPerson(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		form := b.open("/settings/keys/new").form("Create key").fill("name", "Olga's secret plan").fill("level", "full")
		h.advance(stale)
		asked := form.press().shows(200, "Sign in again")
		other := c.people[access.Admin].Email
		asked.form("Confirm").fill("email", other).fill("password", password).press().shows(422, "different account").lacks("secret plan")
		b.open("/account").shows(200, c.people[access.Owner].Email)

		// A normal sign-in ends the first session. The other person does not see its input.
		b.send(http.MethodPost, "/sign-in",
			url.Values{"email": {other}, "password": {password}, "next": {"/settings/keys/new"}}).lacks("secret plan")
		must.NoError(t, h.Teams.SetMember(t.Context(), c.team.ID, c.people[access.Admin].ID, access.Owner))
		b.open("/settings/keys/new").shows(200, "New API key").lacks("secret plan")
	})
}

// claimant is a directory user whose claims the test sets.
type claimant struct {
	mockoidc.MockUser

	claims map[string]any
}

// Claims returns the claims of the ID token.
func (c *claimant) Claims(_ []string, base *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	out := jwt.MapClaims{}
	raw, err := json.Marshal(base)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	maps.Copy(out, c.claims)
	return out, err
}

// A directory sign-in without interaction does not count as a step-up.
func TestStepUpByDirectory(t *testing.T) {
	withProvider(t, true, func(t *testing.T, h *env, provider *oidcserver.Provider) {
		c := h.crew(t)
		comes := func(email string, authTime time.Time) {
			claims := map[string]any{"email": email, "email_verified": true}
			if !authTime.IsZero() {
				claims["auth_time"] = authTime.Unix()
			}
			provider.QueueUser(&claimant{mockoidc.MockUser{Subject: email}, claims})
		}
		owner := c.people[access.Owner].Email
		b := h.browser(t)
		comes(owner, h.now().Add(-time.Hour)) // signed in at the directory this morning
		b.open("/sign-in").follow(directoryButton).shows(200, c.team.Name)
		asked := b.open("/settings/keys/new").form("Create key").fill("name", "Nightly").fill("level", "full").
			press().shows(200, "Sign in again", "Your input will be restored")
		comes(owner, time.Time{})
		asked.follow(directoryButton).shows(401, "did not ask you to sign in again", "Sign in again")
		comes(owner, h.now().Add(-time.Hour))
		rejected := asked.follow(directoryButton).shows(401, "did not ask you to sign in again")
		comes(c.people[access.Admin].Email, h.now())
		rejected.follow(directoryButton).shows(422, "different account")
		if n := h.count(t, "api_keys WHERE team_id = ?", c.team.ID); n != 0 {
			t.Errorf("%d keys", n)
		}
		comes(owner, h.now())
		page := rejected.follow(directoryButton).shows(200, "New API key", "still in the form")
		page.form("Create key").press().shows(200, "Nightly")
	})
}
