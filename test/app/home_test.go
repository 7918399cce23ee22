package app

import (
	"net/http"
	"testing"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/domain/account"
	"pressroom/internal/testkit/must"
)

// The first page tells what comes next and what came of the last posts, and which account somebody has to look after.
func TestHome(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner, viewer := c.as(t, access.Owner), c.as(t, access.Viewer)
		owner.open("/").
			wants(http.StatusOK, c.team.Name, "Nothing goes out in the next seven days.", "Nothing was published yet.",
				"Create", "New report", "Your teams").lacks("How to begin")
		viewer.open("/").lacks("/posts/new", "New report", "Add files")

		wish := c.draft(t, "Wished for Sunday", h.wish(48*time.Hour))
		c.draft(t, "Without a time", "")
		owner.open("/").wants(http.StatusOK, "Wished for Sunday", "Draft, not scheduled", "Bluesky").lacks("Without a time")
		viewer.open("/").follow("Wished for Sunday").wants(http.StatusOK, "Wished for Sunday")
		c.does(t, "publish_post", map[string]any{"post_id": wish})
		owner.handedOver(wish)
		owner.open("/").wants(http.StatusOK, "Published", "Nothing goes out in the next seven days.")

		c.draft(t, "Missed its time", h.wish(time.Hour))
		owner.open("/").lacks("Waiting for you")
		owner.open("/posts").lacks("Waiting for you")
		h.change(t,
			`UPDATE posts SET scheduled_at = scheduled_at - 7200000000, slot_at = slot_at - 7200000000
		WHERE caption = 'Missed its time' AND team_id = ?`, c.team.ID)
		for _, path := range []string{"/", "/posts"} {
			owner.open(path).wants(http.StatusOK, "Waiting for you", "Missed its time", "another time, publish it now, or delete it")
		}
		owner.open("/").follow("All drafts up to today").wants(http.StatusOK, "Missed its time").lacks("Waiting for you")
		viewer.open("/").lacks("Waiting for you")

		must.NoError(t, h.Accounts.MarkLost(t.Context(), c.account, account.AnyGrant))
		viewer.open("/").wants(http.StatusOK, "the connection is lost, and nothing goes out to it")
		h.crew(t).as(t, access.Owner).open("/").lacks("Wished for Sunday")
	})
}

// A team without an account is told how to begin, each by what the person may do.
func TestHomeOfANewTeam(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		b.open("/accounts").follow("Disconnect "+c.handle()).form("Disconnect").press().wants(http.StatusOK, "was disconnected.")
		b.open("/").wants(http.StatusOK, "How to begin").follow("Connect an account").wants(http.StatusOK, "Connect an account")
		c.as(t, access.Editor).open("/").wants(http.StatusOK, "An owner or admin of the team connects an account")

		must.NoError(t, h.Teams.Close(t.Context(), c.team.ID))
		b.open("/").wants(http.StatusOK, "This team is closed").lacks("How to begin", "Write a post")
	})
}
