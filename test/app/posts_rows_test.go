package app

import (
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

// The list of all posts begins with scheduled posts, the soonest first, then shows submitted posts and drafts.
func TestPostGroups(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		c.draft(t, "An idea", "")
		late, soon, sent := c.draft(t, "Much later", ""), c.draft(t, "Very soon", ""), c.draft(t, "Long ago", "")
		for id, in := range map[string]time.Duration{late: 90 * time.Hour, soon: 2 * time.Hour} {
			h.change(t, `UPDATE posts SET status = 'scheduled', scheduled_at = ?, slot_at = ? WHERE id = ?`,
				db.Micros(c.now().Add(in)), db.Micros(c.now().Add(in)), id)
		}
		h.change(t, `UPDATE posts SET status = 'published', published_at = ?, slot_at = ? WHERE id = ?`,
			db.Micros(c.now()), db.Micros(c.now()), sent)
		h.change(t, `UPDATE post_targets SET state = 'published', network_id = 'n1' WHERE post_id = ?`, sent)
		h.change(t, `INSERT INTO account_posts (account_id, network_id, posted_at, format, excerpt, url, views, likes,
			comments, collected_at) VALUES (?, 'n1', ?, 'text', '', '', 1234, 56, 7, ?)`, c.account, db.Micros(c.now()), db.Micros(c.now()))
		p := b.open("/posts").shows(200, "1,234")
		at := -1
		for _, text := range []string{"<h2>Scheduled</h2>", "Very soon", "Much later", "<h2>Published and failed</h2>", "Long ago",
			"<h2>Drafts</h2>", "An idea"} {
			next := strings.Index(p.source, text)
			if next < at {
				t.Errorf("%q comes too early", text)
			}
			at = next
		}
		h.change(t, `UPDATE account_posts SET shares = 3, saves = 2 WHERE network_id = 'n1'`)
		b.open("/posts/"+sent).shows(200, "Performance", "Views 1,234", "Likes 56", "Comments 7", "Shares 3", "Engagement 68").
			lacks("<table>").contains("<h1>Long ago</h1>") // of one account, with the text as its title
		b.open("/posts/"+sent+"/live").shows(200, "Accounts").lacks("Performance") // It reads no metrics.
		b.open("/posts/" + late).shows(200).lacks("Performance")
		b.open("/posts?account="+c.id()).shows(200, "Newest first.").lacks("Published and failed")
	})
}

// A row has the actions that its visitor may take on the post.
func TestPostRowActions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		idea := c.draft(t, "An idea", "")
		edit, remove := `href="/posts/`+idea+`/edit#when"`, `href="/posts/`+idea+`/delete"`
		b := c.as(t, access.Editor)
		p := b.open("/posts").contains(edit, remove)
		p.form("Duplicate").press().shows(200, "This is the copy")
		p.form("Duplicate").press().shows(200, "This is the copy")
		if n := c.count(t, "posts"); n != 2 {
			t.Errorf("%d posts after the same form was sent twice, want 2", n)
		}
		planned := c.draft(t, "Planned", "")
		h.change(t, `UPDATE posts SET status = 'scheduled', scheduled_at = ?, slot_at = ? WHERE id = ?`,
			db.Micros(c.now().Add(time.Hour)), db.Micros(c.now().Add(time.Hour)), planned)
		b.open("/posts?status=scheduled").lacks("Retry…").form("Unschedule").press().shows(200, "Unscheduled. The post is now a draft.")
		h.change(t, `UPDATE posts SET status = 'failed', published_at = ?, slot_at = ? WHERE id = ?`,
			db.Micros(c.now()), db.Micros(c.now()), planned)
		b.open("/posts?status=failed").contains(`href="/posts/` + planned + `#again"`)
		c.as(t, access.Viewer).open("/posts?status=failed").lacks("Retry…", "Unschedule")
		c.as(t, access.Viewer).open("/posts").shows(200, "An idea").lacks(edit, remove, "Duplicate")
		h.change(t, `UPDATE posts SET status = 'published', published_at = ?, slot_at = ? WHERE id = ?`,
			db.Micros(c.now()), db.Micros(c.now()), idea)
		b.open("/posts?status=published").shows(200, "Duplicate").lacks(edit, remove)
	})
}
