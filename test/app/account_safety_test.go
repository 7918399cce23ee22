package app

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/oauth2-proxy/mockoidc"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/oidcserver"
)

// A valid code signs a person in even if the invitation was replaced in the meantime, because a code works only once.
func TestCodeValidAfterInvitationReplaced(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		a := h.addApp(t, c.as(t, access.Editor))
		email := c.people[access.Editor].Email
		h.change(t, `UPDATE people SET email_proved_at = 1 WHERE id = ?`, c.people[access.Editor].ID)
		for _, enter := range []func(p *page) *form{
			func(p *page) *form { return p.form("Sign in").fill("code", a.code(t)) },
			func(p *page) *form { return p.form("Sign in with a recovery code").fill("recovery", a.codes[0]) },
		} {
			b, path := h.browser(t), other.invite(t, email, access.Viewer)
			asked := b.send(http.MethodPost, path+"/sign-in", url.Values{"password": {password}}).shows(200, "Two-factor authentication")
			newer := other.invite(t, email, access.Viewer)
			enter(asked).press().shows(200, "You are signed in, but you did not join a team.", "was revoked", c.team.Name)
			if !b.signedIn() ||
				h.count(t, "memberships WHERE team_id = ? AND person_id = ?", other.team.ID, c.people[access.Editor].ID) != 0 {
				t.Error("the person is not signed in, or joined the team by a revoked invitation")
			}
			b.open(newer).shows(200, "Join "+other.team.Name)
		}
	})
}

// A link from another site to a notification does not switch to the notification's team without confirmation.
func TestNoticeOfOtherTeamAsksBeforeSwitch(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		owner := c.people[access.Owner].ID
		must.NoError(t, h.Teams.SetMember(t.Context(), other.team.ID, owner, access.Admin))
		must.NoError(t, h.Accounts.MarkLost(t.Context(), other.account, account.AnyGrant))
		var id int64
		must.NoError(t, h.db.QueryRow(t.Context(), `SELECT id FROM notices WHERE person_id = ? AND team_id = ?`, owner,
			other.team.ID).Scan(&id))
		b := c.as(t, access.Owner)
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(c.team.ID)}})
		at := fmt.Sprint("/notices/", id)
		asked := b.openFromSite("cross-site", at).shows(200, "You are working in", other.team.Name)
		b.open("/settings/team").shows(200).contains(c.team.Name)
		if n := h.count(t, "notices WHERE id = ? AND read_at > 0", id); n != 0 {
			t.Error("the notice is marked as read before the confirmation")
		}
		asked.form("Switch team").press().shows(200, other.team.Name)
		if n := h.count(t, "notices WHERE id = ? AND read_at > 0", id); n != 1 {
			t.Error("the opened notice is not marked as read")
		}
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(c.team.ID)}})
		if p := b.openFromSite("same-origin", at); p.status != http.StatusOK || strings.HasPrefix(p.path, "/notices") {
			t.Errorf("the notice redirects to %s (%d)", p.path, p.status)
		}
	})
}

// The members page shows no missing second factor for people who can only sign in with the directory.
func TestMembersPageHidesFactorsWithDirectory(t *testing.T) {
	t.Parallel()
	for _, only := range []bool{false, true} {
		testkit.EachDatabase(t, func(t *testing.T, at string) {
			t.Parallel()
			provider, cfg := newProvider(t, only)
			h := open(t, at, cfg)
			c := h.crew(t)
			comes := func(email string) *browser {
				provider.QueueUser(&mockoidc.MockUser{Subject: email, Email: email, EmailVerified: true})
				b := h.browser(t)
				b.open("/sign-in").follow(directoryButton).shows(200)
				return b
			}
			owner := comes(c.people[access.Owner].Email)
			comes(c.people[access.Editor].Email)
			p := owner.open("/settings/members").shows(200, c.people[access.Editor].Email+" · Editor · signs in with the directory")
			if only {
				p.lacks("2FA off")
			} else {
				p.shows(200, c.people[access.Viewer].Email+" · Viewer", "2FA off")
			}
		})
	}
}

// Recovery and a password change list the account's API keys and invitations and revoke the selected ones. Recovery
// selects invitations by default.
func TestNewPasswordListsIssuedItems(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner := c.people[access.Owner]
		intruder := c.as(t, access.Owner)
		makes := func(name string) {
			intruder.open("/settings/keys/new").form("Create key").fill("name", name).fill("level", "full").press().shows(200, name)
		}
		makes("Nightly <export>")
		makes("Back door")
		invited := intruder.invite("mallory@evil.example", access.Admin)
		works := func(name string) bool {
			return h.count(t, "api_keys WHERE name = ? AND revoked_at = 0", name) == 1
		}

		changes := intruder.open("/account/password").
			shows(200, "API key Nightly <export> ("+c.team.Name+")", "never used",
				"Invitation mallory@evil.example as admin").form("Change password")
		if changes.values.Has("revoke") {
			t.Error("a password change selects items to revoke by default")
		}
		b := changes.fill("old", password).fill("password", newPassword).press().shows(200, "Your password was changed.").b
		if !works("Back door") || !works("Nightly <export>") {
			t.Error("a password change revoked keys that were not selected")
		}
		b.open(invited).shows(200, "Join "+c.team.Name)

		b.open("/settings/keys/new").form("Create key").fill("name", "Made since").fill("level", "full").press().shows(200, "Made since")
		r := must.Get(h.Teams.Recover(t.Context(), owner.Email))(t)
		recovers := h.browser(t).open(team.RecoveryPath+r.Token).
			shows(200, "API key Back door", "work without your password", "check the members of your teams").form("Set password")
		var key string
		must.NoError(t, h.db.QueryRow(t.Context(), `SELECT CAST(id AS TEXT) FROM api_keys WHERE name = 'Made since'`).Scan(&key))
		if got := recovers.values["revoke"]; len(got) != 2 || got[0] != "key-"+key || !strings.HasPrefix(got[1], "invitation-") {
			t.Errorf("recovery revokes %q by default, want the key created since the password change and the invitation", got)
		}
		must.NoError(t, h.db.QueryRow(t.Context(), `SELECT CAST(id AS TEXT) FROM api_keys WHERE name = 'Back door'`).Scan(&key))
		recovers.values["revoke"] = append(recovers.values["revoke"], "key-"+key)
		weak := recovers.fill("password", "short").press().shows(422).form("Set password")
		if got := weak.values["revoke"]; len(got) != 3 {
			t.Errorf("the selection is lost: %q", got)
		}
		weak.fill("password", password).press().shows(200, "Your new password is set.")
		if works("Back door") || works("Made since") || !works("Nightly <export>") {
			t.Error("the selected key still works, or the other key was revoked")
		}
		h.browser(t).open(invited).shows(422, "was revoked")
		for kind, want := range map[string]int{"key.revoked": 2, "invitation.revoked": 1} {
			if n := h.count(t, "events WHERE kind = ? AND team_id = ?", kind, c.team.ID); n != want {
				t.Errorf("%d events %s, want %d", n, kind, want)
			}
		}
	})
}

// A page that cannot list all items says how many are omitted and where to find them. Many keys do not displace
// invitations.
func TestNewPasswordCountsUnlisted(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner := c.people[access.Owner]
		c.invite(t, "mallory@evil.example", access.Admin)
		for i := range 152 {
			h.change(t, `INSERT INTO api_keys (team_id, person_id, name, level, hash, created_at) VALUES (?, ?, ?, 'full', ?, 1)`,
				c.team.ID, owner.ID, fmt.Sprint("Key ", i), fmt.Append(nil, i))
		}
		r := must.Get(h.Teams.Recover(t.Context(), owner.Email))(t)
		h.browser(t).open(team.RecoveryPath+r.Token).
			shows(200, "Key 151", "Invitation mallory@evil.example",
				"2 older API keys are not listed and keep working").lacks("<bdi>Key 1</bdi>")
	})
}

// The session ends while a person fills in a form, and the person signs in with the directory in a second tab. The
// first tab then shows the filled-in form again without submitting it.
func TestDirectorySignInKeepsInput(t *testing.T) {
	withProvider(t, true, func(t *testing.T, h *env, provider *oidcserver.Provider) {
		c := h.crew(t)
		owner := c.people[access.Owner].Email
		comes := func(b *browser) {
			t.Helper()
			provider.QueueUser(&mockoidc.MockUser{Subject: owner, Email: owner, EmailVerified: true})
			b.open("/sign-in").follow(directoryButton).shows(200, c.team.Name)
		}
		b := h.browser(t)
		comes(b)
		for _, one := range []struct{ page, button, field string }{
			{"/settings/keys/new", "Create key", "name"}, {"/hashtags/new", "Create list", "name"},
		} {
			form := b.open(one.page).form(one.button).fill(one.field, "Typed <before>")
			must.NoError(t, h.Teams.EndSessions(t.Context(), c.people[access.Owner].ID))
			kept := form.press().shows(200, "Your input will be restored").form("I have signed in: show the form again")
			if again := kept.press().shows(200, "Your input will be restored"); b.signedIn() {
				t.Errorf("signed in without the directory: %s", again.path)
			}
			comes(b)
			again := kept.press().shows(200, "Nothing has been saved or sent yet.")
			if got := again.form(one.button).values.Get(one.field); again.path != one.page || got != "Typed <before>" {
				t.Errorf("%s: field is %q, want the input from %s", again.path, got, one.page)
			}
		}
		if n := h.count(t, "api_keys") + h.count(t, "hashtag_lists WHERE team_id = ?", c.team.ID); n != 0 {
			t.Errorf("%d items were created", n)
		}
	})
}

// Recovery codes can be downloaded as a text file. The page contains the file, so no script or second request is
// needed.
func TestDownloadRecoveryCodes(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		b := h.crew(t).as(t, access.Editor)
		h.addApp(t, b)
		made := b.open("/account/authenticator").form("Generate new recovery codes").press().shows(200, "Save your recovery codes")
		found := regexp.MustCompile(
			`href="data:text/plain;charset=utf-8;base64,([^"]+)" download="pressroom-recovery-codes.txt"`).FindStringSubmatch(made.source)
		if found == nil {
			t.Fatalf("no download link: %s", made.source)
		}
		file := must.Get(base64.StdEncoding.DecodeString(html.UnescapeString(found[1])))(t)
		codes := codeShown.FindAllStringSubmatch(made.source, -1)
		if len(codes) != 10 {
			t.Errorf("%d codes", len(codes))
		}
		for _, code := range codes {
			if !strings.Contains(string(file), code[1]+"\r\n") {
				t.Errorf("the file lacks %s", code[1])
			}
		}
	})
}
