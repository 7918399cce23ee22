package app

import (
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The home page shows upcoming posts, the results of recent posts and accounts that need attention.
func TestHome(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner, viewer := c.as(t, access.Owner), c.as(t, access.Viewer)
		owner.open("/").
			shows(http.StatusOK, c.team.Name, "Nothing is scheduled for the next seven days.",
				"Create", "New report", "Your teams").lacks("Recently published")
		viewer.open("/").lacks("/posts/new", "New report", "Add files")

		wish := c.draft(t, "Wished for Sunday", h.apiTime(48*time.Hour))
		c.draft(t, "Without a time", "")
		owner.open("/").shows(http.StatusOK, "Wished for Sunday", "Draft, not scheduled", "Bluesky").lacks("Without a time")
		viewer.open("/").follow("Wished for Sunday").shows(http.StatusOK, "Wished for Sunday")
		c.callTool(t, "publish_post", map[string]any{"post_id": wish})
		owner.waitUntilPublished(wish)
		owner.open("/").shows(http.StatusOK, "Recently published", "Nothing is scheduled for the next seven days.")

		c.draft(t, "Missed its time", h.apiTime(time.Hour))
		owner.open("/").lacks("Overdue drafts")
		owner.open("/posts").lacks("Overdue drafts")
		h.change(t,
			`UPDATE posts SET scheduled_at = scheduled_at - 7200000000, slot_at = slot_at - 7200000000
		WHERE caption = 'Missed its time' AND team_id = ?`, c.team.ID)
		for _, path := range []string{"/", "/posts"} {
			owner.open(path).shows(http.StatusOK, "Overdue drafts", "Missed its time", "Reschedule, publish, or delete each of them.")
		}
		owner.open("/").follow("All drafts up to today").shows(http.StatusOK, "Missed its time").lacks("Overdue drafts")
		viewer.open("/").lacks("Overdue drafts")

		must.NoError(t, h.Accounts.MarkLost(t.Context(), c.account, account.AnyGrant))
		viewer.open("/").shows(http.StatusOK, "is lost. Nothing is published to it")
		h.crew(t).as(t, access.Owner).open("/").lacks("Wished for Sunday")
	})
}

// The home page of a team without accounts explains how to start, depending on the role.
func TestHomeNewTeam(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		b.open("/accounts").follow("Disconnect "+c.handle()).form("Disconnect").press().shows(http.StatusOK, "was disconnected.")
		b.open("/").shows(http.StatusOK, "Connect an account").lacks("Up next", "Recently published", "Accounts this week")
		b.open("/analytics").shows(http.StatusOK, "No account is connected yet. Connect one to see its analytics here.")
		b.open("/").shows(http.StatusOK, "Getting started").follow("Connect an account").shows(http.StatusOK, "Connect an account")
		c.as(t, access.Editor).open("/").shows(http.StatusOK, "An owner or admin of the team connects an account")

		must.NoError(t, h.Teams.Close(t.Context(), c.team.ID))
		b.open("/").shows(http.StatusOK, "This team is closed").lacks("Getting started", "Write a post")
	})
}

// The owner and admins of a new team see a checklist until everything is done or one of them dismisses it.
func TestHomeChecklist(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner, admin := c.as(t, access.Owner), c.as(t, access.Admin)
		p := owner.open("/").shows(http.StatusOK, "Getting started 2 of 4 done", "Done: Connect an account", "Done: Invite a teammate")
		p.follow("Write a post").shows(http.StatusOK, "New post")
		p.follow("Send for approval").shows(http.StatusOK, "Approvals")
		c.as(t, access.Editor).open("/").lacks("Getting started")
		c.draft(t, "The first one", "")
		admin.open("/").shows(http.StatusOK, "3 of 4 done", "Send for approval").lacks("Done: Write a post").form("Dismiss").press().
			shows(http.StatusOK).lacks("Getting started")
		owner.open("/").lacks("Getting started")
		owner.open("/settings/audit").shows(http.StatusOK, "dismissed the checklist on the home page")

		done := h.crew(t)
		done.as(t, access.Editor).requestApproval(false, done.draft(t, "Another first one", ""), done.draft(t, "A second one", ""))
		done.as(t, access.Owner).open("/").shows(http.StatusOK, "Up next", "Approvals 2 waiting").lacks("Getting started")
	})
}

// The home page shows recent failures, unconfirmed posts of any age, and published posts with their metrics. People who
// can send a reminder also see posts that wait for the client.
func TestHomeAttention(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner := c.as(t, access.Owner)
		age := func(id string, days int) {
			t.Helper()
			h.change(t, `UPDATE posts SET slot_at = ? WHERE id = ?`, db.Micros(h.now().AddDate(0, 0, -days)), id)
		}
		publish := func(caption string) string {
			t.Helper()
			id := c.draft(t, caption, "")
			c.callTool(t, "publish_post", map[string]any{"post_id": id})
			owner.waitUntilPublished(id)
			return id
		}
		seen, unknown := publish("Seen by many"), publish("Nobody knows")
		h.makeUnconfirmed(t, unknown)
		age(unknown, 30)
		old := publish("Failed long ago [sandbox:reject]")
		age(old, 30)
		publish("Failed today [sandbox:reject]")
		h.change(t, `UPDATE post_targets SET network_id = 'seen' WHERE post_id = ?`, seen)
		h.change(t, `INSERT INTO account_posts (account_id, network_id, posted_at, format, excerpt, url, views, likes,
			comments, collected_at) SELECT account_id, network_id, ?, 'text', '', '', 1200, 34, 5, ? FROM post_targets
			WHERE post_id = ?`, db.Micros(h.now()),
			db.Micros(h.now().Add(time.Hour)), seen) // the collection deletes old posts and posts that it no longer finds
		asked := c.draft(t, "For the client", h.apiTime(90*24*time.Hour))
		h.change(t, `UPDATE posts SET approval = 'waiting' WHERE id = ?`, asked)
		tomorrow := h.now().In(berlin(t)).AddDate(0, 0, 1)
		for hour := range 6 {
			c.draft(t, "Tomorrow", time.Date(tomorrow.Year(), tomorrow.Month(), tomorrow.Day(), 9+hour, 0, 0, 0,
				berlin(t)).Format(time.RFC3339))
		}
		owner.open("/").shows(http.StatusOK, "nothing scheduled in the next seven days", "Tomorrow")
		h.change(t, `UPDATE posts SET status = 'scheduled' WHERE caption = ?`, "Tomorrow")
		second := c.draft(t, "For the client too", "")
		h.change(t, `UPDATE posts SET approval = 'waiting' WHERE id = ?`, second)
		owner.open("/").shows(http.StatusOK, "Needs attention 4", "Not confirmed by a network", "Nobody knows",
			"A post failed", "Waiting for approval", "2 posts are waiting for the client.", "Views 1,200", "Likes 34", "Comments 5",
			"4+ posts scheduled in the next seven days", "All of this day").lacks("There are more")
		owner.open("/").follow("View details").shows(http.StatusOK, "Failed today")
		owner.open("/").follow("Check the post").shows(http.StatusOK, "Nobody knows")
		for range 3 {
			publish("Failed as well [sandbox:reject]")
		}
		owner.open("/").shows(http.StatusOK, "Needs attention 5+", "There are more: see all failed posts").
			follow("failed posts").shows(http.StatusOK, "Failed today", "Failed long ago")
	})
}
