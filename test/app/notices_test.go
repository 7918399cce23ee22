package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A failed post notifies only the people who can act on it. Opening the notification marks it as read.
func TestFailedPostNotice(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		b.open("/notices").shows(200, "No notifications yet.")
		id := c.draft(t, "No [sandbox:reject]", "")
		b.open("/posts/" + id + "/publish").form("Publish to 1 account").press().shows(200)
		b.waitUntilPublished(id)
		const text = "A post couldn’t be published. See what went wrong, then try again."
		p := b.open("/notices").shows(200, text, "No [sandbox:reject]", "Notifications 1 unread", "Bluesky", "New", "View post")
		if at := p.follow(text); at.status != http.StatusOK || !strings.HasPrefix(at.path, "/posts/"+id) {
			t.Errorf("the notice redirects to %s (%d)", at.path, at.status)
		}
		b.open("/notices").shows(200, text).lacks(" unread", "Mark as read")
		b.open("/notices?show=unread").shows(200, "No unread notifications.").lacks(text)
		h.change(t, `UPDATE posts SET status = 'partially_published' WHERE id = ?`, id)
		b.open("/notices").shows(200, "A post failed on some accounts.").lacks(text)
		h.change(t, `UPDATE posts SET status = 'failed' WHERE id = ?`, id)
		owner := c.as(t, access.Owner)
		owner.open("/notices").form("Mark as read: "+text).press().shows(200, text).lacks(" unread")
		admin := c.as(t, access.Admin)
		admin.open("/notices").form("Mark all as read").press().shows(200, "All notifications were marked as read.").lacks(" unread")
		for _, role := range []access.Role{access.Viewer, access.Client} {
			c.as(t, role).open("/notices").shows(200, "No notifications yet.").lacks(text)
		}
		if n := h.count(t, "notices WHERE kind = 'post_failed' AND subject = ?", id); n != 3 {
			t.Errorf("%d notices, want one for each of three people", n)
		}
	})
}

// Each other event notifies the right people with the correct text.
func TestNoticesByEvent(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner, admin, editor := c.as(t, access.Owner), c.as(t, access.Admin), c.as(t, access.Editor)
		for range 2 { // the second one notifies nobody
			must.NoError(t, h.Accounts.MarkLost(t.Context(), c.account, account.AnyGrant))
		}
		p := admin.open("/notices").shows(200, "An account was disconnected.", fmt.Sprintf("harbour%d.test", c.team.ID),
			"Notifications 1 unread").contains(`<li class="row unread"`, `<span class="badge bad">`)
		p.follow("An account was disconnected. Its posts wait until you reconnect it.").shows(200)
		editor.open("/notices").lacks("An account was disconnected.")

		key, _, err := h.Teams.AddKey(t.Context(), team.NewKey{Team: c.team.ID, Name: "<Robot>", Level: access.Drafts})
		must.NoError(t, err)
		must.NoError(t, h.Teams.SetKeyLevel(t.Context(), key.ID, access.Full))
		p = owner.open("/notices").
			shows(200, "An API key was created. It can read and create drafts.",
				"An API key was changed. It can read, write, publish and spend credits.", "<Robot>")
		p.follow("An API key was changed. It can read, write, publish and spend credits. If nobody on your team "+
			"changed it, revoke it.").shows(200, "<Robot>")
		keyForm := owner.open(fmt.Sprint("/settings/keys/", key.ID)).form("Save")
		keyForm.press().shows(200) // unchanged
		keyForm.fill("daily_credits", "50").press().shows(200)
		owner.open("/notices").
			shows(200,
				"An API key was changed: its daily limit was none and is now 50 credits. If nobody on your team changed it, revoke it.")
		keyForm.fill("level", "read_only").fill("daily_credits", "1").press().shows(200)
		owner.open("/notices").shows(200, "An API key was changed. It can read. Its daily limit was 50 credits and is now 1 credit.")
		if n := h.count(t, "notices WHERE kind = 'key_changed' AND team_id = ?", c.team.ID); n != 4 {
			t.Errorf("%d notices of keys, want one for each change", n)
		}
		admin.open("/notices").lacks("Robot")

		c.grant(t, 100)
		owner.open("/settings/credits").form("Save threshold").fill("credits", "60").press().shows(200, "The threshold was saved.")
		for i := range 3 { // reported once per crossing and day
			must.Get(h.Credits.Withdraw(t.Context(), c.team.ID, 25, fmt.Sprint("taken ", c.team.ID, i), ""))(t)
		}
		admin.open("/notices").shows(200, "The team has fewer than 60 credits left.")
		if n := h.count(t, "notices WHERE kind = 'credits_low' AND team_id = ?", c.team.ID); n != 2 {
			t.Errorf("%d notices of low credits, want one each for owner and admin", n)
		}
	})
}

// Events of a person's account notify that person, in the time zone of the person's team.
func TestOwnAccountNotifications(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		const text = "New sign-in to your account from a browser that we do not recognize."
		usual := c.as(t, access.Viewer)
		c.as(t, access.Viewer).open("/notices").shows(200, "No notifications yet.") // another session of the same browser
		stranger := h.signIn(t, c.people[access.Viewer].Email, password)
		p := usual.open("/notices").shows(200, text, "Notifications 1 unread", "Your account · Unknown browser")
		if at := p.follow(text +
			" If this was not you, change your password, remove passkeys and authenticator apps that are not yours, " +
			"and sign out of all sessions."); at.path != "/account" {
			t.Errorf("the notice redirects to %s", at.path)
		}
		usual.open("/notices").lacks("1 unread")
		stranger.open("/account").follow("Change password").form("Change password").fill("old", password).
			fill("password", newPassword).press().shows(200, "Your password was changed.")
		stranger.open("/notices").shows(200, "Your password was set or changed", "Notifications 1 unread")
		c.as(t, access.Owner).open("/notices").shows(200, "No notifications yet.")

		// Signing out everywhere forgets all known browsers.
		stranger.open("/account").form("Sign out of all sessions, including this one").press().shows(200, "Sign in")
		again := h.browser(t)
		again.setCookie(knownCookie, stranger.cookie(knownCookie))
		again.open("/sign-in").form("Sign in").fill("email", c.people[access.Viewer].Email).fill("password", newPassword).press()
		again.open("/notices").shows(200, "Notifications 2 unread")
		if n := h.count(t, "known_browsers WHERE person_id = ?", c.people[access.Viewer].ID); n != 1 {
			t.Errorf("%d browsers are known", n)
		}
		must.NoError(t, h.Erasure.DeletePerson(t.Context(), c.people[access.Viewer].ID))
		for _, table := range []string{"known_browsers", "notices"} {
			if n := h.count(t, table+" WHERE person_id = ?", c.people[access.Viewer].ID); n != 0 {
				t.Errorf("%d rows of %s remain of a deleted person", n, table)
			}
		}
	})
}

// The times of notifications are in the time zone of their team.
func TestNoticesInTeamTimeZone(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		must.NoError(t, h.Teams.SetTimezone(t.Context(), c.team.ID, "Asia/Tokyo"))
		must.NoError(t, h.Accounts.MarkLost(t.Context(), c.account, account.AnyGrant))
		c.change(t, `UPDATE notices SET created_at = ? WHERE team_id = ?`,
			db.Micros(time.Date(2026, 11, 21, 20, 15, 0, 0, time.UTC)), c.team.ID)
		c.as(t, access.Owner).open("/notices").shows(200, "Sun 22 Nov", ", 05:15")
	})
}

func TestNotificationsArePrivate(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, strangers := h.crew(t), h.crew(t)
		must.NoError(t, h.Accounts.MarkLost(t.Context(), c.account, account.AnyGrant))
		var id int64
		must.NoError(t, h.db.QueryRow(t.Context(), `SELECT id FROM notices WHERE person_id = ?`, c.people[access.Owner].ID).Scan(&id))
		at := fmt.Sprint("/notices/", id)
		for _, b := range []*browser{strangers.as(t, access.Owner), c.as(t, access.Admin)} {
			b.open(at).shows(404, "This page doesn’t exist")
			b.send(http.MethodPost, at+"/read", nil).shows(404)
		}
		out := h.browser(t)
		for _, path := range []string{"/notices", at, "/notices/settings"} {
			if p := out.open(path); !strings.HasPrefix(p.path, "/sign-in") {
				t.Errorf("signed out, %s ends at %s", path, p.path)
			}
		}
		if p := out.send(http.MethodPost, "/notices/read", url.Values{"newest": {fmt.Sprint(id)}}); !strings.HasPrefix(p.path, "/sign-in") {
			t.Errorf("signed out, marking notices as read ends at %s", p.path)
		}
		strangers.as(t, access.Owner).send(http.MethodPost, "/notices/read", url.Values{"newest": {fmt.Sprint(id)}})
		c.as(t, access.Owner).open("/notices").shows(200, "Notifications 1 unread")

		// Former members are not notified.
		admin := c.as(t, access.Admin)
		must.Get(h.Teams.AddTeam(t.Context(),
			team.Team{Name: "Elsewhere", Timezone: "UTC", Language: "en", Plan: "agency"}, c.people[access.Admin].ID))(t)
		admin.open("/notices").shows(200, "An account was disconnected.")
		must.NoError(t, h.Teams.RemoveMember(t.Context(), c.team.ID, c.people[access.Admin].ID))
		admin.open("/notices").shows(200, "No notifications yet.").lacks("unread")
		for _, path := range []string{"/notices?before=x", "/notices?before=0"} {
			c.as(t, access.Owner).open(path).shows(404)
		}
	})
}

func TestNoticeSettings(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner := c.as(t, access.Owner)
		owner.open("/notices/settings").shows(200, "Email isn’t set up on this server.").lacks("By email", "Save threshold")
		p := owner.open("/settings/credits").shows(200, "Leave it empty to turn this off.")
		p.form("Save threshold").fill("credits", "few").press().shows(422, "Enter a threshold from 0").
			form("Save threshold").fill("credits", "-3").press().shows(422)
		p.form("Save threshold").fill("credits", "40").press().shows(200, "The threshold was saved.")
		c.as(t, access.Admin).open("/settings/credits").shows(200).lacks("Save threshold")
		c.as(t, access.Admin).send(http.MethodPost, "/settings/credits/threshold", url.Values{"credits": {"1"}}).shows(403)
		if n := h.count(t, "notice_thresholds WHERE team_id = ? AND credits = 40", c.team.ID); n != 1 {
			t.Error("the threshold was not saved")
		}
		p.form("Save threshold").fill("credits", "").press().shows(200, "The threshold was saved.")

		// Without a mail server, the form has no email choices and does not change them.
		must.NoError(t, h.Notifications.SetMuted(t.Context(), c.people[access.Owner].ID,
			notification.MutedKinds{Mail: []notification.Kind{notification.CreditsLow}}))
		must.NoError(t, h.Accounts.MarkLost(t.Context(), c.account, account.AnyGrant))
		owner.open("/notices").shows(200, "An account was disconnected.")
		owner.open("/notices/settings").form("Save").fill("app", "post_failed").press().shows(200, "Your settings were saved.")
		owner.open("/notices").shows(200, "No notifications yet.").lacks("An account was disconnected.", "unread")
		if n := h.count(t, "notice_choices WHERE person_id = ?", c.people[access.Owner].ID); n != 1 {
			t.Errorf("%d kinds are not mailed, want 1", n)
		}
	})
}

// The help link in the navigation opens the section about the current page.
func TestHelpOfPage(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		owner := h.crew(t).as(t, access.Owner)
		help := owner.open("/docs/app").source
		for path, part := range map[string]string{
			"/": "page-home", "/posts": "schedule", "/calendar": "move", "/accounts": "connect", "/reports": "report",
			"/settings/team": "page-settings", "/notices": "page-notices",
		} {
			owner.open(path).contains(`href="/docs/app#` + part + `"`)
			if !strings.Contains(help, `id="`+part+`"`) {
				t.Errorf("the help has no part %s", part)
			}
		}
	})
}

// The API reference is public.
func TestReferencePages(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		for _, b := range []*browser{h.browser(t), c.as(t, access.Viewer)} {
			b.open("/docs").shows(200, "API reference", "POST /posts").follow("Create a draft").
				shows(200, "Bearer $PRESSROOM_KEY", h.root+"/api/v1/posts", "PostMedia")
			b.open("/docs").follow("Help").
				shows(200, "How to do the most common tasks.", "Get a client’s approval", "API reference").mustBeSmall()
			b.open("/docs/app?q=approval").shows(200, "Get a client’s approval").lacks("Invite a teammate")
			b.open("/docs/start").shows(200, h.root+"/api/v1/me")
			b.open("/docs/assistants").shows(200, h.root+"/mcp")
			b.open("/docs").follow("All guides").shows(200, "Backup and restore", "How pressroom works").follow("Backup and restore").
				shows(200, "Creating a backup").mustBeSmall()
			b.open("/docs/app").follow("Guides").shows(200, "How pressroom works")
			b.open("/docs/nothing").shows(404, "There is no page", "All guides")
		}
	})
}
