package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// callTool calls an operation as the team's owner and returns its data.
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

// draft creates a draft for the team's account and returns its ID. at is the planned time, which may be empty.
func (c *crew) draft(tb testing.TB, caption, at string) string {
	tb.Helper()
	id, _ := c.callTool(tb, "create_post", map[string]any{"caption": caption, "account_ids": []int64{c.account}})["id"].(string)
	if at != "" {
		c.callTool(tb, "update_post", map[string]any{"id": id, "scheduled_at": at})
	}
	return id
}

// apiTime returns the time after d, in the format of the API.
func (h *env) apiTime(d time.Duration) string { return h.now().Add(d).UTC().Format(time.RFC3339) }

// waitUntilPublished waits until publishing has ended, successfully or not, and returns the post's page.
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
			b.t.Fatalf("the post is still being published: %s", p.text())
		}
	}
}

// change executes a statement, which must change a row.
func (h *env) change(tb testing.TB, statement string, args ...any) {
	tb.Helper()
	must.NoError(tb, h.db.InTx(tb.Context(), "test.change", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, statement, args...)
		if err == nil && n == 0 {
			return fmt.Errorf("no row changed by %s", statement)
		}
		return err
	}))
}

// makeUnconfirmed changes a published post into a post whose outcome is unknown.
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
		b.open("/posts").shows(200, "There are no posts yet", "Write the first post")
		c.as(t, access.Viewer).open("/posts").shows(200, "There are no posts yet").lacks("/posts/new")
		for i := range 32 {
			c.draft(t, fmt.Sprintf("Number %d of the <harbour>", i), "")
		}
		planned := c.draft(t, "Wished for", c.apiTime(50*time.Hour))
		first := b.open("/posts").shows(200, "Wished for", "Number 31 of the <harbour>", "Draft", "Bluesky: harbour")
		first.lacks("Number 2 of")
		first.follow("Next page").shows(200, "Number 2 of", "First page").lacks("Wished for")

		day := c.now().Add(50 * time.Hour).In(berlin(t)).Format(time.DateOnly)
		drafts := first.follow("Drafts 33").shows(200, "Number 31 of the <harbour>", "Newest first.")
		form := drafts.form("Apply").fill("from", day).fill("to", day).fill("account", fmt.Sprint(c.account))
		form.press().shows(200, "Wished for", "Newest first", "Scheduled 0").lacks("Number 31")
		found := drafts.form("Apply").fill("q", "NUMBER 7 of").press().shows(200, "Number 7 of").lacks("Number 17 of")
		found.follow("All 33").shows(200, "Number 7 of").lacks("Number 17 of")
		drafts.form("Apply").fill("q", "nowhere").press().shows(200, "No posts match these filters.").
			follow("Show all posts").shows(200, "Wished for")
		first.follow("Failed 0").shows(200, "Nothing has failed").follow("All 33").shows(200, "Wished for")
		first.lacks("Archived")
		tried, missed := c.draft(t, "Tried in vain", ""), c.draft(t, "Never there in time", c.apiTime(50*time.Hour))
		h.change(t, `UPDATE posts SET status = 'failed', submitted_at = ?, slot_at = ? WHERE id IN (?, ?)`,
			db.Micros(h.now()), db.Micros(h.now()), tried, missed)
		b.open("/posts?status=failed").
			shows(200, "Failed "+h.now().In(berlin(t)).Format("Mon 2 Jan, 15:04"), "Was scheduled for "+c.now().
				Add(50*time.Hour).In(berlin(t)).Format("Mon 2 Jan"))
		first.form("Apply").fill("to", "soon").press().shows(422, "Enter the last day as a date").lacks("There are no posts yet")
		b.open("/posts?from=2026-99-01").shows(422)
		b.open("/posts?account=x").shows(422, "Select one of the accounts.")
		b.open("/posts?status=lost").shows(422)
		b.open("/posts?q=" + url.QueryEscape(strings.Repeat("ü", 200))).shows(200)
		b.open("/posts?q="+url.QueryEscape(strings.Repeat("ü", 201))).shows(422, "Enter a shorter search text.")
		b.open("/posts?cursor=AQ").shows(422)
		b.open("/posts").follow("Wished for").shows(200, "Planned for", "Edit").lacks("/posts/" + planned + "/cancel")
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
		id := c.draft(t, "Open from eight", c.apiTime(48*time.Hour))
		p := b.open("/posts/"+id).shows(200, "Planned for", "Schedule for")
		confirm := p.follow("Publish now…").shows(200, "This post goes live right away", "Bluesky: harbour")
		form := confirm.form("Publish to 1 account")
		form.press().shows(200, "Publishing has started.")
		form.press().shows(200) // a second submit has no effect
		if n := h.count(t, "deliveries WHERE post_id = ?", id); n != 1 {
			t.Errorf("%d deliveries", n)
		}
		done := b.waitUntilPublished(id).
			shows(200, "Published", "View post", "Technical details", "Attempts", "Sent to the network – published",
				fmt.Sprintf("History Published on Bluesky, harbour%d.test", c.team.ID), "Publishing started", "Created")
		done.follow("View the last publishing job").shows(200, "Publishing a post", "Done", "View post").
			follow("Open the post").shows(200, "Open from eight")
		b.open("/posts/"+id+"/publish").shows(200, "Published") // already confirmed

		copying := done.form("Duplicate")
		made := copying.press().shows(200, "This is the copy", "Open from eight", "Draft")
		if again := copying.press(); again.path != made.path || made.path == "/posts/"+id {
			t.Errorf("submitting a form twice created %s and %s", made.path, again.path)
		}
		if n := h.count(t, "posts"); n != 2 {
			t.Errorf("%d posts", n)
		}
	})
}

// A duplicate keeps the texts of individual accounts.
func TestDuplicateKeepsAccountTexts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "For all", "")
		own := "For the <harbour> alone"
		c.callTool(t, "update_post", map[string]any{"id": id, "overrides": []any{map[string]any{"account_id": c.account,
			"caption": own}}})
		b := c.as(t, access.Editor)
		b.open("/posts/"+id).shows(200, "Preview", own)
		made := b.open("/posts/"+id).form("Duplicate").press().shows(200, "This is the copy", "For all", own)
		b.open(fmt.Sprintf("%s/accounts/%d", made.path, c.account)).shows(200, own, "No attempts yet.")
	})
}

func TestUnschedulePost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "On Monday", c.apiTime(48*time.Hour))
		b := c.as(t, access.Editor)
		at := c.now().Add(48 * time.Hour).In(berlin(t)).Format("Mon 2 Jan, 15:04")
		p := b.open("/posts/"+id).form("Schedule for "+at).press().
			shows(200, "Scheduled for", "Create another", "View in calendar")
		p.form("Unschedule").press().
			shows(200, "Unscheduled. The post is now a draft. It was scheduled for "+c.now().Add(48*time.Hour).In(berlin(t)).
				Format("Mon 2 Jan 2006, 15:04")+".", "On Monday Draft").lacks("Schedule for", "Planned for")
		id = c.draft(t, "On Tuesday", c.apiTime(48*time.Hour))
		stale := b.open("/posts/" + id)
		h.advance(72 * time.Hour)
		b = c.as(t, access.Editor)
		late := b.open("/posts/" + id).shows(200)
		late.lacks("Schedule for")
		values := stale.form("Schedule for " + at).values
		values.Set("once", late.form("Duplicate").values.Get("once"))
		b.send(http.MethodPost, "/posts/"+id+"/schedule", values).shows(422, "That time has passed.", "Planned for")
	})
}

// A post that the network rejected shows the network's message and can be retried.
func TestRetryFailedAccount(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id := c.draft(t, "No [sandbox:reject]", "")
		b.open("/posts/" + id + "/publish").form("Publish to 1 account").press().shows(200)
		p := b.waitUntilPublished(id).
			shows(200, "This post was not published", "The network rejected the content.", "Bluesky’s message:",
				"3 retries left.", "Sent to the network – rejected")
		c.as(t, access.Viewer).open("/posts/"+id).shows(200, "The network rejected the content.").lacks(">Retry</button>")
		empty := p.form("Retry")
		delete(empty.values, "account")
		empty.press().shows(422, "Select at least one account.")
		p.form("Retry").press().shows(200, "Retrying 1 account.")
		c.as(t, access.Admin).open("/settings/audit").
			shows(200,
				fmt.Sprintf("could not publish a post on Bluesky (harbour%d.test) : No [sandbox:reject] – rejected content", c.team.ID))
		waits := b.waitUntilPublished(id).shows(200, "It was retried moments ago. You can retry it in ", "second").
			lacks(">Retry</button>", "from Sun").contains(`data-every="2"`)
		waits.follow(fmt.Sprintf("Bluesky: harbour%d.test", c.team.ID)).shows(200, "You can retry it in ").
			contains(`data-every="2"`, `<meta http-equiv="refresh" content="5">`, "/assets/posts-")
		h.advance(2 * time.Minute)
		one := b.open("/posts/" + id).follow(fmt.Sprintf("Bluesky: harbour%d.test", c.team.ID))
		one.shows(200, "Attempts", "Sent to the network – rejected").lacks("/assets/posts-").
			form("Retry").press().shows(200, "Retrying 1 account.")
		b.waitUntilPublished(id)

		// The operator sees the network's error instead of a progress message.
		operator := c.asOperator(t, access.Owner)
		calls := regexp.MustCompile(`Bluesky OK \d+ \d+ \(\d+\.\d%\) `)
		if p := operator.open("/operator/networks").text(); !calls.MatchString(p) {
			t.Errorf("the page of networks does not show the failed calls: %s", p)
		}
		operator.open("/operator/networks").shows(200, "Publishing: post rejected").lacks("No failures", "Rejected apps")

		// A rejection of the app is shown in the same way, with the next step.
		h.change(t, `UPDATE delivery_attempts SET result = 'app', network_code = '402' WHERE result = 'rejected'`)
		h.change(t, `UPDATE social_accounts SET platform = 'x'`)
		operator.open("/operator/networks").shows(200, "Networks rejected posts because of these apps.", "X", "402", "Next: Buy credit")
		h.change(t, `UPDATE social_accounts SET platform = 'bluesky'`)
		h.change(t, `UPDATE delivery_attempts SET call = 'resolve', result = 'processing' WHERE result = 'app'`)
		operator.open("/operator/networks").shows(200, "No failures in the last 500 attempts.")

		// The advice for a disconnected account is shown once.
		h.change(t, `UPDATE social_accounts SET connection_state = 'lost' WHERE id = ?`, c.account)
		h.change(t, `UPDATE post_targets SET error_code = 'account_needs_reauth' WHERE post_id = ?`, id)
		for _, p := range []*page{b.open("/posts/" + id), b.open(one.path)} {
			p.shows(200, "Reconnect the account, then retry. Accounts").lacks("may be sent again")
			if n := strings.Count(p.source, "Reconnect the account"); n != 1 {
				t.Errorf("%s shows the advice %d times", p.path, n)
			}
		}
	})
}

// A person records whether an unconfirmed post was published. The decision and the person are stored.
func TestResolveUnconfirmedPost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		for found, want := range map[string][]string{
			"yes": {"Marked as published.", "View post"},
			"no": {"Marked as not published.",
				"Ada editor checked the network and marked the post as not published.", "Retry"},
		} {
			c := h.crew(t)
			b := c.as(t, access.Editor)
			id := c.draft(t, "Is it there? "+found, "")
			b.open("/posts/" + id + "/publish").form("Publish to 1 account").press().shows(200)
			b.waitUntilPublished(id).shows(200, "View post")
			h.makeUnconfirmed(t, id)
			p := b.open("/posts/"+id).
				shows(200, "Unconfirmed", "try <later>", "Next check whether the network published it at",
					"A network may have published this post").lacks("Failed")
			for path, text := range map[string]string{
				"/posts": "Unconfirmed", "/calendar": "Unconfirmed", "/": "Not confirmed by a network",
			} {
				b.open(path).shows(200, "Is it there? "+found, text).lacks("· Failed", ">Failed</span>")
			}
			one := p.follow(fmt.Sprintf("Check whether it was published : harbour%d.test", c.team.ID)).
				shows(200, "Was it published?")
			form := one.form("Save decision")
			form.press().shows(422, "Choose whether you found the post.")
			form.values.Set("found", found)
			if found == "yes" {
				wrong := form.fill("permalink", "javascript:alert(1)").press().shows(422, "must be a full URL")
				if again := wrong.form("Save decision"); again.values.Get("found") != "yes" ||
					again.values.Get("permalink") != "javascript:alert(1)" {
					t.Errorf("the input is lost: %v", again.values)
				}
				form.fill("permalink", "https://bsky.example/it").press().shows(422, "must start with https://", "bsky.app")
				form.fill("permalink", "https://bsky.app/profile/harbour.test/post/1")
			} else {
				form.fill("permalink", "https://bsky.app/profile/harbour.test/post/1").press().
					shows(422, "A permalink requires a published post.")
				form.fill("permalink", "")
			}
			form.press().shows(200, want...).lacks("A network may have published this post")
			b.open("/notices").shows(200).lacks("checked the network")
			if others := c.as(t, access.Owner).open("/notices"); found == "no" {
				others.shows(200, "A member of your team checked the network and did not find a post.").
					lacks("A post couldn’t be published.")
			} else {
				others.shows(200).lacks("checked the network")
			}
			b.open(one.path).shows(200, "Decided by a person", "by Ada editor").lacks("Save decision")
			if n := h.count(t, "events WHERE kind = 'post.account_decided' AND subject = ? AND person_id = ?", id,
				c.people[access.Editor].ID); n != 1 {
				t.Errorf("%d events of the decision", n)
			}
		}
	})
}

// Lists mark series and posts that wait for the client, and show the first image.
func TestListsMarkSeriesAndApprovals(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		series := c.draft(t, "Every day anew", c.apiTime(24*time.Hour))
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, series, "FREQ=DAILY", nil))(t)
		waits := c.draft(t, "For the client", "")
		b.open("/posts/" + waits).follow("Send for approval…").form("Create link").press().shows(200)
		media := strings.TrimPrefix(c.addImage(t, "cup", 3), "/media/")
		c.callTool(t, "create_post",
			map[string]any{"caption": "With a picture", "account_ids": []int64{c.account}, "media_ids": []int{mustNumber(t, media)}})
		b.open("/posts").shows(200, fmt.Sprintf("Every day anew Bluesky: harbour%d.test From", c.team.ID), "Waiting for approval Draft",
			"With a picture").
			contains(fmt.Sprintf(`src="/media/%s/thumbnail"`, media))
		b.open("/posts/" + series).form("Pause the series").press().shows(200)
		b.open("/posts").shows(200, "Series, paused")
	})
}

// Lists, summaries and the publish page show account pictures.
func TestPostAccountPictures(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "With a face", "")
		b := c.as(t, access.Editor)
		for _, path := range []string{"/posts", "/posts/" + id + "/quick", "/posts/" + id + "/publish"} {
			b.open(path).shows(200, "Bluesky").contains(fmt.Sprintf(`src="/accounts/%d/picture"`, c.account))
		}
	})
}

// The title of a post is its text, and the time follows. An unpublished post begins with its preview.
func TestPlannedPostPage(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		text := "You can find us on the quay and, starting this Tuesday, every week until the harbour closes for the winter."
		when, layout := c.now().Add(48*time.Hour).In(berlin(t)), "Mon 2 Jan, 15:04"
		if when.Year() != c.now().In(berlin(t)).Year() {
			layout = "Mon 2 Jan 2006, 15:04"
		}
		at := when.Format(layout)
		b.open("/posts/" + c.draft(t, "Some day", "")).contains("<h1>Some day</h1>")
		id := c.draft(t, text, c.apiTime(48*time.Hour))
		page := b.open("/posts/"+id).shows(200, "Planned for "+at, "not scheduled yet.")
		page = page.form("Schedule for "+when.Format("Mon 2 Jan, 15:04")).press().
			contains("<h1>You can find us on the quay").shows(200, "Scheduled for "+at, text)
		page.shows(200, "History Scheduled by Ada editor").lacks("Unscheduled by")
		b.open("/posts/" + id + "/live").shows(200).lacks("Scheduled for")
		rest := page.source
		for _, part := range []string{"Preview", "History"} {
			_, after, found := strings.Cut(rest, ">"+part+"</h2>")
			if !found {
				t.Fatalf("%s is missing or in the wrong order", part)
			}
			rest = after
		}
		day := when.AddDate(0, 0, 1).Format(time.DateOnly)
		b.open("/posts/"+id).form("Reschedule").fill("date", day).fill("time", "").press().shows(422, "Enter a date and a time.")
		b.open("/posts/"+id).form("Reschedule").fill("date", day).fill("time", "09:30").press().
			shows(200, "moved to", "Scheduled for "+when.AddDate(0, 0, 1).Format("Mon 2 Jan")).contains("09:30")
		b.open("/posts/" + id).follow("Publish now…").form("Publish to 1 account").press()
		b.waitUntilPublished(id).lacks("Published post")
	})
}
