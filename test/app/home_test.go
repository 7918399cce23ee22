package app

import (
	"net/http"
	"testing"
	"time"

	"pressroom/internal/access"
)

// The first page tells what comes next and what came of the last posts, and which account somebody has to look after.
func TestHome(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		owner, viewer := c.as(t, access.Owner), c.as(t, access.Viewer)
		owner.open("/").wants(http.StatusOK, c.team.Name, "Nothing goes out in the next two weeks.", "Nothing was published yet.", "Write a post", "New report", "Your teams").lacks("How to begin")
		viewer.open("/").lacks("Write a post", "New report", "Add files")

		wish := c.draft(t, "Wished for Sunday", h.wish(48*time.Hour))
		c.draft(t, "Without a time", "")
		owner.open("/").wants(http.StatusOK, "Wished for Sunday", "Draft, only planned for", "Bluesky").lacks("Without a time")
		viewer.open("/").follow("Wished for Sunday").wants(http.StatusOK, "Wished for Sunday")
		c.does(t, "publish_post", map[string]any{"post_id": wish})
		owner.handedOver(wish)
		owner.open("/").wants(http.StatusOK, "Published", "Nothing goes out in the next two weeks.")

		must(t, h.Accounts.Lose(t.Context(), c.account, "refused"))
		viewer.open("/").wants(http.StatusOK, "the connection is lost, and nothing goes out to it")
		h.crew(t).as(t, access.Owner).open("/").lacks("Wished for Sunday")
	})
}

// A team without an account is told how to begin, each by what the person may do.
func TestHomeOfANewTeam(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		b.open("/accounts").follow("Disconnect "+c.handle()).form("Disconnect").press().wants(http.StatusOK, "is disconnected.")
		b.open("/").wants(http.StatusOK, "How to begin").follow("Connect an account").wants(http.StatusOK, "Connect an account")
		c.as(t, access.Editor).open("/").wants(http.StatusOK, "An owner or admin of the team connects an account")

		must(t, h.Teams.Close(t.Context(), c.team.ID))
		b.open("/").wants(http.StatusOK, "This team is closed").lacks("How to begin", "Write a post")
	})
}
