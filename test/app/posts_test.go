package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/post"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/must"
)

// callTool runs an operation as the team's owner and returns its data.
func (c *crew) callTool(tb testing.TB, tool string, args map[string]any) map[string]any {
	tb.Helper()
	actor := must.Get(c.Teams.InApp(tb.Context(), c.people[access.Owner].ID, c.team.ID))(tb)
	raw := must.Get(json.Marshal(args))(tb)
	out := must.Get(c.Registry().Tool(tool).Run(tb.Context(), operation.Call{Actor: actor, Operation: tool, Now: c.now()}, raw))(tb)
	raw = must.Get(json.Marshal(out.Data))(tb)
	var data map[string]any
	must.NoError(tb, json.Unmarshal(raw, &data))
	return data
}

// draft creates a draft for the team's account, with a planned time if at is not empty.
func (c *crew) draft(tb testing.TB, caption, at string) string {
	tb.Helper()
	id, _ := c.callTool(tb, "create_post", map[string]any{"caption": caption, "account_ids": []int64{c.account}})["id"].(string)
	if at != "" {
		c.callTool(tb, "update_post", map[string]any{"id": id, "scheduled_at": at})
	}
	return id
}

// timeIn returns a time in d from now, in the format of the API.
func (h *env) timeIn(d time.Duration) string { return h.now().Add(d).UTC().Format(time.RFC3339) }

// waitUntilPublished waits until a post is no longer being published and returns its page.
func (b *browser) waitUntilPublished(id string) *page {
	b.t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for ends := time.Now().Add(30 * time.Second); ; <-again.C {
		p := b.open("/posts/" + id)
		if !strings.Contains(p.text(), "Publishing:") {
			return p
		}
		if time.Now().After(ends) {
			b.t.Fatalf("it is still being published: %s", p.text())
		}
	}
}

// change writes to the database directly.
func (h *env) change(tb testing.TB, statement string, args ...any) {
	tb.Helper()
	must.NoError(tb, h.db.InTx(tb.Context(), "test.change", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, statement, args...)
		if err == nil && n == 0 {
			return fmt.Errorf("nothing was changed by %s", statement)
		}
		return err
	}))
}

// makeUnconfirmed makes the outcome of a published post unknown.
func (h *env) makeUnconfirmed(tb testing.TB, id string) {
	tb.Helper()
	h.change(tb,
		`UPDATE deliveries SET phase = 'doubtful', outcome = 'unconfirmed', error_code = 'not_confirmed',
		network_text = 'try <later>', permalink = '', wake_at = ?, not_before = ? WHERE post_id = ?`,
		db.Micros(h.now().Add(time.Hour)), db.Micros(h.now().Add(time.Hour)), id)
	h.change(tb,
		`UPDATE post_targets
		SET state = 'unconfirmed', error_code = 'not_confirmed', network_text = 'try <later>', permalink = '',
		published_at = 0 WHERE post_id = ?`, id)
	h.change(tb, `UPDATE posts SET status = 'failed', published_at = 0 WHERE id = ?`, id)
}

func TestPostLists(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		b.open("/posts").wants(200, "There are no posts yet", "Write the first post")
		c.as(t, access.Viewer).open("/posts").wants(200, "There are no posts yet").lacks("/posts/new")
		for i := range 32 {
			c.draft(t, fmt.Sprintf("Number %d of the <harbour>", i), "")
		}
		planned := c.draft(t, "Wished for", c.timeIn(50*time.Hour))
		first := b.open("/posts").wants(200, "Wished for", "Number 31 of the <harbour>", "Draft", "Bluesky: harbour")
		first.lacks("Number 2 of")
		first.follow("Next page").wants(200, "Number 2 of", "First page").lacks("Wished for")

		day := c.now().Add(50 * time.Hour).In(berlin(t)).Format(time.DateOnly)
		drafts := first.follow("Drafts 33").wants(200, "Number 31 of the <harbour>", "Newest first.")
		form := drafts.form("Show").fill("from", day).fill("to", day).fill("account", fmt.Sprint(c.account))
		form.press().wants(200, "Wished for", "Latest first", "Scheduled 0").lacks("Number 31")
		found := drafts.form("Show").fill("q", "NUMBER 7 of").press().wants(200, "Number 7 of").lacks("Number 17 of")
		found.follow("All 33").wants(200, "Number 7 of").lacks("Number 17 of")
		drafts.form("Show").fill("q", "nowhere").press().wants(200, "No posts match these filters.").
			follow("Show all posts").wants(200, "Wished for")
		first.follow("Failed 0").wants(200, "Nothing failed.").follow("Show all posts").wants(200, "Wished for")
		first.lacks("Archived")
		tried, missed := c.draft(t, "Tried in vain", ""), c.draft(t, "Never there in time", c.timeIn(50*time.Hour))
		h.change(t, `UPDATE posts SET status = 'failed', submitted_at = ?, slot_at = ? WHERE id IN (?, ?)`,
			db.Micros(h.now()), db.Micros(h.now()), tried, missed)
		b.open("/posts?status=failed").
			wants(200, "Tried "+h.now().In(berlin(t)).Format("Mon 2 Jan 2006, 15:04"), "Was to go out "+c.now().
				Add(50*time.Hour).In(berlin(t)).Format("Mon 2 Jan 2006"))
		first.form("Show").fill("to", "soon").press().wants(422, "Enter the last day as a date").lacks("There are no posts yet")
		b.open("/posts?from=2026-99-01").wants(422)
		b.open("/posts?account=x").wants(422, "Select one of the accounts.")
		b.open("/posts?status=lost").wants(422)
		b.open("/posts?q=" + url.QueryEscape(strings.Repeat("ü", 200))).wants(200)
		b.open("/posts?q="+url.QueryEscape(strings.Repeat("ü", 201))).wants(422, "Search for a shorter text.")
		b.open("/posts?cursor=AQ").wants(422)
		b.open("/posts").follow("Wished for").wants(200, "planned for", "Edit").lacks("/posts/" + planned + "/cancel")
	})
}

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	return zone
}

func TestPublishAndDuplicate(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id := c.draft(t, "Open from eight", c.timeIn(48*time.Hour))
		p := b.open("/posts/"+id).wants(200, "Draft, planned for", "Schedule for")
		confirm := p.follow("Publish now…").wants(200, "The post is published immediately", "Bluesky: harbour")
		form := confirm.form("Publish to 1 account")
		form.press().wants(200, "Publishing has started.")
		form.press().wants(200) // submitted twice, done once
		if n := h.count(t, "deliveries WHERE post_id = ?", id); n != 1 {
			t.Errorf("%d deliveries", n)
		}
		done := b.waitUntilPublished(id).
			wants(200, "Published", "View post", "Attempts", "Sent to the network – published",
				fmt.Sprintf("History Published on Bluesky, harbour%d.test", c.team.ID), "Publishing started", "Created")
		done.follow("The last job").wants(200, "Publishing a post", "Done", "View post").
			follow("Open the post").wants(200, "Open from eight")
		b.open("/posts/"+id+"/publish").wants(200, "Published") // nothing is left to confirm

		copying := done.form("Duplicate as a draft")
		made := copying.press().wants(200, "This is the copy", "Open from eight", "Draft")
		if again := copying.press(); again.path != made.path || made.path == "/posts/"+id {
			t.Errorf("a form that was sent twice made %s and %s", made.path, again.path)
		}
		if n := h.count(t, "posts"); n != 2 {
			t.Errorf("%d posts", n)
		}
	})
}

// A duplicate keeps the texts of single accounts.
func TestDuplicateKeepsAccountTexts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "For all", "")
		own := "For the <harbour> alone"
		must.Get(c.Posts.Override(t.Context(), c.people[access.Owner].ID, id, c.account, post.Override{Caption: &own}))(t)
		b := c.as(t, access.Editor)
		b.open("/posts/"+id).wants(200, "Preview", own)
		made := b.open("/posts/"+id).form("Duplicate as a draft").press().wants(200, "This is the copy", "For all", own)
		made.follow(fmt.Sprintf("Bluesky: harbour%d.test", c.team.ID)).wants(200, own, "No attempts yet.")
	})
}

func TestUnschedulePost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "On Monday", c.timeIn(48*time.Hour))
		b := c.as(t, access.Editor)
		at := c.now().Add(48 * time.Hour).In(berlin(t)).Format("Mon 2 Jan, 15:04")
		p := b.open("/posts/"+id).form("Schedule for "+at).press().
			wants(200, "Scheduled. It will be published automatically.", "Scheduled for")
		p.form("Unschedule").press().
			wants(200, "Unscheduled. The post is now a draft. It was scheduled for "+c.now().Add(48*time.Hour).In(berlin(t)).
				Format("Mon 2 Jan 2006, 15:04")+".", "Not scheduled yet.").lacks("Schedule for")
		id = c.draft(t, "On Tuesday", c.timeIn(48*time.Hour))
		stale := b.open("/posts/" + id)
		h.advance(72 * time.Hour)
		b = c.as(t, access.Editor)
		late := b.open("/posts/" + id).wants(200)
		late.lacks("Schedule for")
		values := stale.form("Schedule for " + at).values
		values.Set("once", late.form("Duplicate as a draft").values.Get("once"))
		b.send(http.MethodPost, "/posts/"+id+"/schedule", values).wants(422, "The time is in the past.", "Draft, planned for")
	})
}

// A post refused by the network shows the network's message and can be retried.
func TestRetryFailedAccount(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id := c.draft(t, "No [sandbox:reject]", "")
		b.open("/posts/" + id + "/publish").form("Publish to 1 account").press().wants(200)
		p := b.waitUntilPublished(id).
			wants(200, "No account is known to have published it.", "The network rejected the content.", "The network said:",
				"3 retries left.", "Sent to the network – rejected")
		c.as(t, access.Viewer).open("/posts/"+id).wants(200, "The network rejected the content.").lacks("Retry these accounts")
		empty := p.form("Retry these accounts")
		delete(empty.values, "account")
		empty.press().wants(422, "Select at least one account.")
		p.form("Retry these accounts").press().wants(200, "Retrying 1 account.")
		c.as(t, access.Admin).open("/settings/audit").
			wants(200,
				fmt.Sprintf("could not publish a post on an account: rejected content : No [sandbox:reject] ( "+
					"Bluesky, harbour%d.test ).", c.team.ID))
		waits := b.waitUntilPublished(id).wants(200, "It was retried moments ago. You can retry it in ", "second").
			lacks("Retry these accounts", "from Sun").holds(`data-every="2"`)
		waits.follow(fmt.Sprintf("Bluesky: harbour%d.test", c.team.ID)).wants(200, "You can retry it in ").
			holds(`data-every="2"`, `<meta http-equiv="refresh" content="5">`, "/assets/posts-")
		h.advance(2 * time.Minute)
		one := b.open("/posts/" + id).follow(fmt.Sprintf("Bluesky: harbour%d.test", c.team.ID))
		one.wants(200, "Attempts", "Sent to the network – rejected").lacks("/assets/posts-").
			form("Retry").press().wants(200, "Retrying 1 account.")
		b.waitUntilPublished(id)

		// The operator sees the network's refusal, and not a progress message.
		operator := c.asOperator(t, access.Owner)
		operator.open("/operator/networks").wants(200, "rejected").lacks("No failures")
		h.change(t, `UPDATE delivery_attempts SET call = 'resolve', result = 'processing' WHERE result = 'rejected'`)
		operator.open("/operator/networks").wants(200, "No failures in the last 500 attempts.")

		// The advice for a disconnected account is shown once.
		h.change(t, `UPDATE social_accounts SET connection_state = 'lost' WHERE id = ?`, c.account)
		h.change(t, `UPDATE post_targets SET error_code = 'account_needs_reauth' WHERE post_id = ?`, id)
		for _, p := range []*page{b.open("/posts/" + id), b.open(one.path)} {
			p.wants(200, "Reconnect the account, then retry. Accounts").lacks("may be sent again")
			if n := strings.Count(p.source, "Reconnect the account"); n != 1 {
				t.Errorf("%s says %d times what to do", p.path, n)
			}
		}
	})
}

// A person decides on an unconfirmed account, and the decision and person are recorded.
func TestDecision(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		for found, want := range map[string][]string{
			"yes": {"Marked as published.", "View post"},
			"no": {"Marked as not published.",
				"Ada editor checked the network and marked the post as not published.", "Retry these accounts"},
		} {
			c := h.crew(t)
			b := c.as(t, access.Editor)
			id := c.draft(t, "Is it there? "+found, "")
			b.open("/posts/" + id + "/publish").form("Publish to 1 account").press().wants(200)
			b.waitUntilPublished(id).wants(200, "View post")
			h.makeUnconfirmed(t, id)
			p := b.open("/posts/"+id).
				wants(200, "Unconfirmed", "try <later>", "Next check whether the network published it at",
					"A network may have published this post").lacks("Failed")
			for _, path := range []string{"/posts", "/calendar", "/"} {
				b.open(path).wants(200, "Is it there? "+found, "Unconfirmed").lacks("· Failed", ">Failed</span>")
			}
			one := p.follow(fmt.Sprintf("Check whether it was published : harbour%d.test", c.team.ID)).
				wants(200, "Was it published?")
			form := one.form("Save decision")
			form.press().wants(422, "Choose whether you found the post.")
			form.values.Set("found", found)
			if found == "yes" {
				wrong := form.fill("permalink", "javascript:alert(1)").press().wants(422, "must be a full URL")
				if again := wrong.form("Save decision"); again.values.Get("found") != "yes" ||
					again.values.Get("permalink") != "javascript:alert(1)" {
					t.Errorf("what was typed is gone: %v", again.values)
				}
				form.fill("permalink", "https://bsky.example/it").press().wants(422, "must start with https://", "bsky.app")
				form.fill("permalink", "https://bsky.app/profile/harbour.test/post/1")
			} else {
				form.fill("permalink", "https://bsky.app/profile/harbour.test/post/1").press().
					wants(422, "A permalink requires a published post.")
				form.fill("permalink", "")
			}
			form.press().wants(200, want...).lacks("A network may have published this post")
			b.open("/notices").wants(200).lacks("checked the network")
			if others := c.as(t, access.Owner).open("/notices"); found == "no" {
				others.wants(200, "A member of your team checked the network and did not find a post.").
					lacks("A post could not be published.")
			} else {
				others.wants(200).lacks("checked the network")
			}
			b.open(one.path).wants(200, "Decided by a person", "by Ada editor").lacks("Save decision")
			if n := h.count(t, "events WHERE kind = 'post.account_decided' AND subject = ? AND person_id = ?", id,
				c.people[access.Editor].ID); n != 1 {
				t.Errorf("%d events tell who decided", n)
			}
		}
	})
}

// Lists show series, posts waiting for the client, and the first image.
func TestListsDistinguishPosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		series := c.draft(t, "Every day anew", c.timeIn(24*time.Hour))
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, series, "FREQ=DAILY", nil))(t)
		waits := c.draft(t, "For the client", "")
		b.open("/posts/" + waits).form("Send to the client for approval").press().wants(200)
		media := strings.TrimPrefix(c.addImage(t, "cup", 3), "/media/")
		c.callTool(t, "create_post",
			map[string]any{"caption": "With a picture", "account_ids": []int64{c.account}, "media_ids": []int{mustNumber(t, media)}})
		b.open("/posts").wants(200, fmt.Sprintf("Every day anew Bluesky: harbour%d.test From", c.team.ID), "Waiting for approval Draft",
			"With a picture").
			holds(fmt.Sprintf(`src="/media/%s/thumbnail"`, media))
		b.open("/posts/" + series).form("Pause the series").press().wants(200)
		b.open("/posts").wants(200, "Series, paused")
	})
}

// Accounts are shown with their pictures in lists, summaries and on the publish page.
func TestPostAccountPictures(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "With a face", "")
		b := c.as(t, access.Editor)
		for _, path := range []string{"/posts", "/posts/" + id + "/quick", "/posts/" + id + "/publish"} {
			b.open(path).wants(200, "Bluesky").holds(fmt.Sprintf(`src="/accounts/%d/picture"`, c.account))
		}
	})
}
