package app

import (
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
)

// The list says why posts failed, and offers to retry them if that can help.
func TestListSaysWhyPostsFailed(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id := c.draft(t, "No [sandbox:reject]", "")
		b.open("/posts/" + id + "/publish").form("Publish to 1 account").press().shows(200)
		b.waitUntilPublished(id)
		p := b.open("/posts?status=failed").shows(200, "Bluesky: The network rejected the content.", "Edit and try again").
			lacks(">Retry</button>")
		c.as(t, access.Viewer).open("/posts?status=failed").shows(200, "The network rejected the content.").lacks("Edit and try again")

		h.change(t, `UPDATE post_targets SET error_code = 'network_error' WHERE post_id = ?`, id)
		retry := b.open("/posts?status=failed").shows(200, "The network failed or could not be reached.").
			lacks("Edit and try again").form("Retry")
		p.form("Edit and try again").press().shows(200, "This is a copy for Bluesky").form("Save draft").press().shows(200)
		b.open("/posts?status=failed").shows(200, "Open the other version").lacks(">Retry</button>", "Retry…")
		retry.press().shows(200, "Another version of this post replaces it on this account.", "Not retried: another version")
	})
}

// Published posts are sorted by time or by a metric.
func TestSortPublishedPosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		one := c.draft(t, "Is published", "")
		h.change(t, `UPDATE posts SET status = 'published', published_at = 5, slot_at = 5 WHERE id = ?`, one)
		b.open("/posts?status=draft").lacks("Most views")
		p := b.open("/posts?status=published").shows(200, "Newest first.", "Most engagement")
		p.form("Apply").fill("sort", "views").press().shows(200, "Most views first.", "Is published")
		b.open("/posts?status=published&sort=length").shows(422, "Select one of the orders.")
		b.open("/posts?status=published&sort=views&cursor=x").shows(422, "This page of the list does not exist.")
		b.open("/posts?sort=views").shows(200, "Is published")
	})
}

// Selected posts are published after a confirmation, and duplicated without one. An action can apply to the posts of
// all pages.
func TestPublishAndDuplicateSelectedPosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		one, other := c.draft(t, "First idea", ""), c.draft(t, "Second idea", c.apiTime(48*time.Hour))
		list := b.open("/posts")
		list.form("Duplicate the selected posts").fill("post", one, other).press().
			shows(200, "First idea Duplicated. The copy is a draft.", "Second idea Duplicated.")
		if n := h.count(t, "posts WHERE team_id = ? AND status = 'draft'", c.team.ID); n != 4 {
			t.Errorf("%d drafts", n)
		}
		h.change(t, `UPDATE posts SET status = 'published' WHERE id = ?`, other)
		list.form("Publish now…").fill("post", other).press().shows(200, "None of the selected posts can be published now.")
		list.form("Publish now…").fill("post", one, other).press().
			shows(200, "Publish 1 post now?", "1 of the selected posts can’t be published now and stays as it is.").
			form("Publish 1 post").press().shows(200, "First idea Publishing has started.")

		for range 30 {
			c.draft(t, "One of many", "")
		}
		form := b.open("/posts?status=draft").shows(200, "Select all 32").form("Delete…")
		form.values.Set("everything", "yes")
		form.press().shows(200, "Delete 32 posts?").form("Delete 32 posts").press().shows(http.StatusOK, "One of many Deleted.")
		if n := h.count(t, "posts WHERE team_id = ? AND status = 'draft'", c.team.ID); n != 0 {
			t.Errorf("%d drafts remain", n)
		}
	})
}
