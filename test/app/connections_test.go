package app

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// connectAssistant connects an assistant for the member with the given role.
func (c *crew) connectAssistant(tb testing.TB, of access.Role, name string, may ...access.Capability) int64 {
	tb.Helper()
	var made int64
	must.NoError(tb, c.db.InTx(tb.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		var err error
		made, err = c.Teams.Connect(ctx, tx,
			team.NewConnection{
				TeamID: c.team.ID, PersonID: c.people[of].ID, Client: name, ClientID: "c1", Host: "assistant.example", Capabilities: may,
			})
		return err
	}))
	return made
}

// isActive reports whether a connection is active.
func (h *env) isActive(t *testing.T, connection int64) bool {
	t.Helper()
	stands := must.Get(h.Teams.IsConnectionActive(t.Context(), h.db, connection))(t)
	return stands
}

// People can view and end connections of their own assistants, and owners and admins those of all members. The owner
// limits credits.
func TestConnections(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner, editor, viewer := c.as(t, access.Owner), c.as(t, access.Editor), c.as(t, access.Viewer)
		empty := editor.open("/settings").shows(200).follow("Apps and assistants").
			shows(200, "Connect an app or assistant", "claude mcp add --transport http pressroom "+h.root+"/mcp",
				"pressroom login --url "+h.root)
		empty.contains(">" + h.root + "/mcp</pre>")
		empty.follow("More about connecting apps and assistants").shows(200)
		c.as(t, access.Client).open("/settings/assistants").
			shows(200, "Clients of this team cannot connect apps and assistants").lacks("/mcp")
		editors, viewers := c.connectAssistant(t, access.Editor, "<Robot>", access.Read, access.Publish), c.connectAssistant(t,
			access.Viewer, "Reader", access.Read)

		owner.open("/settings/assistants").
			shows(200, "<Robot>", "Reader", "Can read and publish", "never used", "access granted to assistant.example", "by Ada editor")
		editor.open("/settings/assistants").shows(200, "<Robot>").lacks("Reader")
		at := fmt.Sprint("/settings/assistants/", editors)
		for _, path := range []string{at, at + "/end"} {
			viewer.open(path).shows(404).lacks("Robot")
		}
		viewer.send("POST", at+"/end", nil).shows(404)
		c.as(t, access.Admin).send("POST", at, url.Values{"daily_credits": {"5"}}).shows(403)
		editor.open(at).shows(200, "it is not verified", "(you)").lacks("Save", "aily limit")

		admins := c.connectAssistant(t, access.Admin, "Spender", access.Read, access.Spend)
		owner.open(at).shows(200).lacks("Save") // an assistant that cannot spend has no limit
		c.as(t, access.Admin).open(fmt.Sprint("/settings/assistants/", admins)).shows(200, "No limit").lacks("Save")
		page := owner.open(fmt.Sprint("/settings/assistants/", admins)).shows(200, "Spending", "Spend credits")
		page.form("Save").fill("daily_credits", "many").press().shows(422, "Enter a daily limit of 0 or more credits")
		page.form("Save").fill("daily_credits", "25").press().shows(200, "The daily limit was saved")
		owner.open("/settings/assistants").shows(200, "25 credits")

		editor.open("/account").shows(200, "<Robot>", c.team.Name, "assistant.example")
		editor.open(at).follow("Disconnect this app…").
			shows(200, "never been used", "upload links").lacks("racked").
			form("Disconnect app").press().shows(200, "The app was disconnected", "Disconnected")
		if h.isActive(t, editors) || !h.isActive(t, viewers) {
			t.Error("the wrong connection or no connection ended")
		}
		editor.open("/account").shows(200, "You have not connected an app or assistant").lacks("Robot")
		editor.send("POST", at+"/end", nil).shows(422, "has already ended")
		c.as(t, access.Admin).send("POST", at+"/forget", nil).shows(403)
		owner.open(at).shows(200, "Disconnected").lacks("Save").follow("Delete this app…").shows(200).
			form("Delete app").press().shows(200, "The app was deleted").lacks("Robot")
		owner.open(at).shows(404)
		owner.send("POST", fmt.Sprint("/settings/assistants/", viewers, "/forget"), nil).shows(422, "Disconnect it first")
		owner.open(fmt.Sprint("/settings/assistants/", viewers, "/end")).form("Disconnect app").press().
			shows(200, "The app was disconnected.")
		owner.open("/settings/audit").
			shows(200, "connected an app, which may read and publish",
				"set the daily limit of an app to 25 credits", "disconnected an app", "deleted a disconnected app")
		key, _, err := h.Teams.AddKey(t.Context(), team.NewKey{Team: c.team.ID, Name: "A key", Level: access.Full})
		must.NoError(t, err)
		for _, neither := range []string{
			fmt.Sprint("/settings/keys/", admins), fmt.Sprint("/settings/keys/", admins, "/forget"),
			fmt.Sprint("/settings/assistants/", key.ID, "/forget"), fmt.Sprint("/settings/assistants/", key.ID),
		} {
			owner.open(neither).shows(404)
		}
		owner.open("/settings/keys").shows(200, "A key").lacks("Robot")
		owner.open("/settings/assistants").lacks("A key")
	})
}

// A person's connections end when the person leaves the team or gets a role that cannot publish. The pages announce and
// explain it.
func TestConnectionsEndWithMembership(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		admin := c.as(t, access.Admin)
		editors, owners := c.connectAssistant(t, access.Editor, "Writer", access.Read, access.Write), c.connectAssistant(t,
			access.Owner, "Chief", access.Read)
		person := fmt.Sprintf("/settings/members/%d", c.people[access.Editor].ID)
		admin.open(person).shows(200, "cannot publish").form("Change role").fill("role", "viewer").press().shows(200)
		if h.isActive(t, editors) || !h.isActive(t, owners) {
			t.Error("the wrong connection or no connection ended")
		}
		admin.open(fmt.Sprint("/settings/assistants/", editors)).
			shows(200, "The person who connected it now has a lower role", "can be connected again").lacks("Disconnect this app")
		again := c.connectAssistant(t, access.Editor, "Reader", access.Read)
		admin.open(person+"/remove").shows(200, "Assistants that the person connected").form("Remove from team").press().shows(200)
		if h.isActive(t, again) {
			t.Error("the assistant of a removed member still works")
		}
		admin.open(fmt.Sprint("/settings/assistants/", again)).shows(200, "left the team")

		viewers := c.connectAssistant(t, access.Viewer, "Looker", access.Read)
		c.as(t, access.Viewer).open(fmt.Sprintf("/account/teams/%d/leave", c.team.ID)).
			shows(200, "Assistants that you connected").form("Leave team").press()
		if h.isActive(t, viewers) {
			t.Error("the assistant of a former member still works")
		}
	})
}

// The page that ends a connection lists the reports whose tracking it enabled. People who may spend can end the
// tracking.
func TestDisconnectEndsSelectedTracking(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		made := c.connectAssistant(t, access.Editor, "Tracker", access.Read)
		id := uuid.Must(uuid.NewV7()).String()
		h.change(t,
			`INSERT INTO reports (id, team_id, kind, platform, subject, status, tracked, frequency_days,
		next_refresh_at, tracked_key, available_until, created_at)
		VALUES (?, ?, 'hashtag', 'instagram', 'coffee', 'ready', 1, 3, ?, ?, ?, 1)`,
			id, c.team.ID, db.Micros(h.now().Add(time.Hour)), made, db.Micros(h.now().Add(time.Hour)))
		must.NoError(t, h.Teams.Pause(t.Context(), team.Pause{Scope: team.ForKey, Target: made, Action: access.PauseSpending}))
		at := fmt.Sprintf("/settings/assistants/%d/end", made)
		if p := c.as(t, access.Editor).open(at).
			shows(200, "Tracking continues and is charged"); strings.Contains(p.source, `name="tracking"`) {
			t.Error("an editor can end tracking")
		}
		owner := c.as(t, access.Owner)
		owner.open("/settings/assistants").shows(200, "Paused", "The operator has paused spending")
		owner.open(at).shows(200, "#coffee on Instagram", "every 3 days").form("Disconnect app").press().
			shows(200, "Tracking of 1 report was turned off and will not be charged again.")
		if n := h.count(t, "reports WHERE tracked = 1 OR next_refresh_at > 0"); n != 0 || h.isActive(t, made) {
			t.Errorf("%d reports are tracked", n)
		}
	})
}

// A new assistant notifies the owner, the admins and the person who connected it. A changed limit notifies the owner
// and the admins.
func TestAssistantNotifications(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		h.db.OnEvent(h.Notifications.HandleEvent) // as the server does
		made := c.connectAssistant(t, access.Editor, "<Robot>", access.Read, access.Write, access.Publish)
		const said = "An app was connected. It can read, create drafts and publish. If nobody on your team " +
			"connected it, revoke the connection."
		for _, role := range []access.Role{access.Owner, access.Admin, access.Editor} {
			c.as(t, role).open("/notices").shows(200, said, "<Robot>").follow(said).shows(200, "it is not verified")
		}
		c.as(t, access.Viewer).open("/notices").lacks("Robot")
		must.NoError(t, h.Teams.SetKeyLimit(t.Context(), made, 50))
		c.as(t, access.Owner).open("/notices").shows(200, "An app’s daily limit is 50 credits now.")
		if n := h.count(t, "notices WHERE kind = 'assistant_connected' AND team_id = ?", c.team.ID); n != 5 {
			t.Errorf("%d notices about assistants, want 3 + 2", n)
		}
	})
}

// Keys and connections are listed 50 per page, newest first and without duplicates. The last page links to the first.
func TestKeyAndConnectionPaging(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		for n := range 51 {
			_, _, err := h.Teams.AddKey(t.Context(),
				team.NewKey{Team: c.team.ID, Name: fmt.Sprintf("Key-%02d.", n), Level: access.ReadOnly})
			must.NoError(t, err)
			c.connectAssistant(t, access.Owner, fmt.Sprintf("Assistant-%02d.", n), access.Read)
		}
		owner := c.as(t, access.Owner)
		for address, name := range map[string]string{"/settings/keys": "Key-", "/settings/assistants": "Assistant-"} {
			first := owner.open(address).shows(200, name+"50.", name+"01.").lacks(name + "00.")
			next := regexp.MustCompile(regexp.QuoteMeta(address) + `\?before=\d+`).FindString(first.source)
			last := owner.open(next).shows(200, name+"00.").lacks(name+"01.", address+"?before=")
			if next == "" || !strings.Contains(last.source, `href="`+address+`"`) {
				t.Errorf("%s: next page %q does not link back", address, next)
			}
		}
	})
}
