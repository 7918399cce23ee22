package app

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// publishRejected publishes a post on two accounts, one of which rejects it. It returns the post's ID and the account
// that published it.
func (c *crew) publishRejected(t *testing.T, b *browser, caption string) (string, int64) {
	t.Helper()
	handle := fmt.Sprintf("pier%d.test", c.team.ID)
	has := must.Get(c.box.ConnectBluesky(context.WithoutCancel(t.Context()), c.Server, c.team.ID, handle))(t)
	id := c.draft(t, caption, "")
	c.callTool(t, "update_post", map[string]any{"id": id, "account_ids": []int64{c.account, has}})
	own := "No [sandbox:reject]"
	c.callTool(t, "update_post", map[string]any{"id": id, "overrides": []any{map[string]any{"account_id": c.account,
		"caption": own}}})
	b.open("/posts/" + id + "/publish").form("Publish to 2 accounts").press().shows(200)
	b.waitUntilPublished(id).shows(200, "The network rejected the content.")
	return id, has
}

// A post that one account rejected is edited as a copy for that account only.
func TestEditFailedPost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id, has := c.publishRejected(t, b, "News of the harbour")
		c.as(t, access.Viewer).open("/posts/"+id).shows(200, "rejected the content").lacks("Edit and try again", "Archive")
		retry := b.open("/posts/" + id).form("Retry")
		again := b.open("/posts/" + id).form("Edit and try again")
		form := again.press().shows(200, "Edit and try again", "This is a copy for Bluesky (harbour", "News of the harbour",
			"No [sandbox:reject]").form("Save draft")
		b.open("/posts/" + id).contains(">Retry</button>").lacks("Copied to")
		copied := form.press().shows(200, "Copied from News of the harbour").path
		if p := form.press(); p.path != copied {
			t.Errorf("the form saved %s first, %s the second time", copied, p.path)
		}
		if p := again.press(); p.path != copied+"/edit" {
			t.Errorf("the button opened %s instead of the edited copy %s", p.path, copied)
		}
		b.open("/posts/new?again="+id).shows(200, "Edit post")
		if n := h.count(t, "post_targets WHERE post_id = ?", strings.TrimPrefix(copied, "/posts/")); n != 1 {
			t.Errorf("the copy is for %d accounts", n)
		}
		b.open(copied).shows(200, "Copied from News of the harbour", "Draft")
		b.open("/posts/"+id).shows(200, "Copied to News of the harbour", "Another version of this post replaces it on this account.").
			lacks(">Retry</button>")
		retry.press().shows(200, "Not retried: another version of this post exists. Open the other version")
		for _, path := range []string{"/", "/posts?status=failed"} {
			b.open(path).shows(200, "News of the harbour", "Open the other version").contains(`href="`+copied+`"`).
				lacks(">Retry</button>", "Edit and try again")
		}

		form = b.open(copied + "/edit").form("Save")
		form.fill("account", fmt.Sprint(c.account), fmt.Sprint(has)).press().shows(422, "nothing is published twice")
		repeating := b.open(copied+"/edit").form("Schedule").fill("repeat", "daily").fill("date", "2099-03-29").fill("time", "10:00")
		repeating.press().shows(422, "An edited copy cannot be turned into a series. Duplicate it first.")
		text := fmt.Sprintf("text-%d", c.account)
		form.fill("account", fmt.Sprint(c.account)).fill(text, "Yes").press().shows(200)
		b.open(copied + "/publish").form("Publish to 1 account").press().shows(200)
		b.waitUntilPublished(strings.TrimPrefix(copied, "/posts/")).shows(200, "View post", "Yes")
		b.open("/posts/"+id).shows(200, "Copied to News of the harbour").lacks("Edit and try again", ">Retry</button>")
		if n := h.count(t, "post_targets WHERE account_id = ? AND state = 'published'", has); n != 1 {
			t.Errorf("%d posts on the account that had published it", n)
		}
	})
}

// The page of a post that was published in part begins with the account that rejected it.
func TestFailedAccountFirst(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id, _ := c.publishRejected(t, b, "News of the harbour")
		h.change(t, `UPDATE post_targets SET position = 9 WHERE post_id = ? AND state = 'failed'`, id)
		text := b.open("/posts/" + id).text()
		failed, published := strings.Index(text, "The network rejected the content."), strings.Index(text, "View post")
		if failed < 0 || published < failed {
			t.Errorf("failed at %d, published at %d: %s", failed, published, text)
		}
	})
}

// An archived failed post is shown neither on the home page nor in the list of failed posts.
func TestArchivePost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id, _ := c.publishRejected(t, b, "News of the harbour")
		b.open("/").shows(200, "Needs attention", "News of the harbour")
		archived := b.open("/posts/"+id).form("Archive").press().shows(200, "Post archived.", "It won’t be retried.")
		archived.lacks(">Retry</button>", "Edit and try again")
		b.open("/").shows(200).lacks("Needs attention")
		archived.form("Restore").press().shows(200, "Restored.", "Edit and try again").contains(">Retry</button>")
		b.open("/").shows(200, "Needs attention")

		page := b.open("/posts/" + id)
		h.change(t, `UPDATE post_targets SET state = 'unconfirmed' WHERE post_id = ? AND state = 'failed'`, id)
		page.form("Archive").press().shows(422, "Check the network and record the outcome")
		b.open("/posts/"+id).shows(200, "Unconfirmed").lacks("Archive")
	})
}

// Of two people who edit a failed post, the second one to save is told that a copy exists. The form keeps the text.
func TestEditFailedPostTogether(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b, other := c.as(t, access.Editor), c.as(t, access.Admin)
		id, _ := c.publishRejected(t, b, "News of the harbour")
		mine := b.open("/posts/" + id).form("Edit and try again").press().form("Save draft")
		theirs := other.open("/posts/" + id).form("Edit and try again").press().form("Save draft")
		theirs.fill("caption", "Theirs").press().shows(200, "Theirs")
		mine.fill("caption", "Mine").press().
			shows(422, "Someone else has created an edited copy of this post", "Mine", "Edit and try again")
		if n := h.count(t, "posts WHERE replaces = ?", id); n != 1 {
			t.Errorf("%d copies", n)
		}
		b.open("/posts/"+id).follow("Open the other version").shows(200, "Theirs")
	})
}
