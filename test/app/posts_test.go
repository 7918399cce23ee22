package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/post"
	"pressroom/internal/domain/team"
	"pressroom/internal/platform/db"
)

// does runs an operation as the crew's owner, and gives its data.
func (c *crew) does(tb testing.TB, tool string, args map[string]any) map[string]any {
	tb.Helper()
	actor, err := c.Teams.InApp(tb.Context(), c.people[access.Owner].ID, c.team.ID)
	must(tb, err)
	raw, err := json.Marshal(args)
	must(tb, err)
	out, err := c.Registry().Tool(tool).Run(tb.Context(), operation.Call{Actor: actor, Operation: tool, Now: c.now()}, raw)
	must(tb, err)
	raw, err = json.Marshal(out.Data)
	must(tb, err)
	var data map[string]any
	must(tb, json.Unmarshal(raw, &data))
	return data
}

// draft makes a draft for the crew's account, with a wished time where that is not empty.
func (c *crew) draft(tb testing.TB, caption, at string) string {
	tb.Helper()
	id, _ := c.does(tb, "create_post", map[string]any{"caption": caption, "account_ids": []int64{c.account}})["id"].(string)
	if at != "" {
		c.does(tb, "update_post", map[string]any{"id": id, "scheduled_at": at})
	}
	return id
}

// wish is a time to come, as a draft is wished for.
func (h *house) wish(d time.Duration) string { return h.now().Add(d).UTC().Format(time.RFC3339) }

// handedOver opens a post once its publishing has ended.
func (b *browser) handedOver(id string) *page {
	b.t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for ends := time.Now().Add(30 * time.Second); ; <-again.C {
		p := b.open("/posts/" + id)
		if !strings.Contains(p.text(), "It is being published") {
			return p
		}
		if time.Now().After(ends) {
			b.t.Fatalf("it is still being published: %s", p.text())
		}
	}
}

// change writes into the database beside the program.
func (h *house) change(tb testing.TB, statement string, args ...any) {
	tb.Helper()
	must(tb, h.db.InTx(tb.Context(), "test.change", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, statement, args...)
		if err == nil && n == 0 {
			return fmt.Errorf("nothing was changed by %s", statement)
		}
		return err
	}))
}

// doubt makes a published account one of which nobody knows.
func (h *house) doubt(tb testing.TB, id string) {
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

func TestPostsAreListed(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		b.open("/posts").wants(200, "There are no posts yet", "Write the first post")
		c.as(t, access.Viewer).open("/posts").wants(200, "There are no posts yet").lacks("/posts/new")
		for i := range 32 {
			c.draft(t, fmt.Sprintf("Number %d of the <harbour>", i), "")
		}
		planned := c.draft(t, "Wished for", c.wish(50*time.Hour))
		first := b.open("/posts").wants(200, "Wished for", "Number 31 of the <harbour>", "Draft", "Bluesky: harbour")
		first.lacks("Number 2 of")
		first.follow("Next page").wants(200, "Number 2 of", "First page").lacks("Wished for")

		day := c.now().Add(50 * time.Hour).In(berlin(t)).Format(time.DateOnly)
		form := first.form("Show").fill("from", day).fill("to", day).fill("status", "draft").fill("account", fmt.Sprint(c.account))
		form.press().wants(200, "Wished for", "the latest first").lacks("Number 31")
		first.form("Show").fill("status", "failed").press().wants(200, "No post fits these filters.").
			follow("Show all posts").wants(200, "Wished for")
		tried, missed := c.draft(t, "Tried in vain", ""), c.draft(t, "Never there in time", c.wish(50*time.Hour))
		h.change(t, `UPDATE posts SET status = 'failed', submitted_at = ? WHERE id IN (?, ?)`, db.Micros(h.now()), tried, missed)
		b.open("/posts?status=failed").
			wants(200, "Tried "+h.now().In(berlin(t)).Format("Mon 2 Jan 2006, 15:04"), "Was to go out "+c.now().
				Add(50*time.Hour).In(berlin(t)).Format("Mon 2 Jan 2006"))
		first.form("Show").fill("to", "soon").press().wants(422, "has to be a date").lacks("There are no posts yet")
		b.open("/posts?from=2026-99-01").wants(422)
		b.open("/posts?account=x").wants(422, "Choose one of the accounts.")
		b.open("/posts?status=lost").wants(422)
		b.open("/posts?cursor=AQ").wants(422)
		b.open("/posts").follow("Wished for").wants(200, "it is planned for", "Change").lacks("/posts/" + planned + "/cancel")
	})
}

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	must(t, err)
	return zone
}

func TestAPostIsPublishedAndDuplicated(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id := c.draft(t, "Open from eight", c.wish(48*time.Hour))
		p := b.open("/posts/"+id).wants(200, "A draft. It does not go out by itself; it is planned for", "Schedule for")
		confirm := p.follow("Publish now…").wants(200, "The post goes out at once", "Bluesky: harbour")
		form := confirm.form("Publish to 1 account")
		form.press().wants(200, "The post is handed over.")
		form.press().wants(200) // sent twice, done once
		if n := h.count(t, "deliveries WHERE post_id = ?", id); n != 1 {
			t.Errorf("%d deliveries", n)
		}
		done := b.handedOver(id).
			wants(200, "Published", "the account has it", "See it at the network", "What was done", "Handed to the network – it stands")
		done.follow("The last job").wants(200, "Publishing a post", "Done", "See it at the network").
			follow("Open the post").wants(200, "Open from eight")
		b.open("/posts/"+id+"/publish").wants(200, "Published") // there is nothing to confirm any more

		copying := done.form("Duplicate as a draft")
		made := copying.press().wants(200, "This is the duplicate", "Open from eight", "Draft")
		if again := copying.press(); again.path != made.path || made.path == "/posts/"+id {
			t.Errorf("a form that was sent twice made %s and %s", made.path, again.path)
		}
		if n := h.count(t, "posts"); n != 2 {
			t.Errorf("%d posts", n)
		}
	})
}

// A duplicate has what single accounts show of their own.
func TestADuplicateHasTheTextsOfAccounts(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		id := c.draft(t, "For all", "")
		own := "For the <harbour> alone"
		_, err := c.Posts.Override(t.Context(), c.people[access.Owner].ID, id, c.account, post.Override{Caption: &own})
		must(t, err)
		b := c.as(t, access.Editor)
		b.open("/posts/"+id).wants(200, "It shows a text of its own:", own)
		made := b.open("/posts/"+id).form("Duplicate as a draft").press().wants(200, "This is the duplicate", "For all", own)
		made.follow(fmt.Sprintf("Bluesky: harbour%d.test", c.team.ID)).wants(200, own, "Nothing yet.")
	})
}

func TestAScheduledPostIsTakenBack(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		id := c.draft(t, "On Monday", c.wish(48*time.Hour))
		b := c.as(t, access.Editor)
		at := c.now().Add(48 * time.Hour).In(berlin(t)).Format("Mon 2 Jan, 15:04")
		p := b.open("/posts/"+id).form("Schedule for "+at).press().
			wants(200, "Scheduled. It goes out by itself.", "It goes out by itself at")
		p.form("Unschedule").press().
			wants(200, "Unscheduled: it is a draft now. It was set for "+c.now().Add(48*time.Hour).In(berlin(t)).
				Format("Mon 2 Jan 2006, 15:04")+".", "A draft.").lacks("Schedule for")
		id = c.draft(t, "On Tuesday", c.wish(48*time.Hour))
		stale := b.open("/posts/" + id)
		h.advance(72 * time.Hour)
		b = c.as(t, access.Editor)
		late := b.open("/posts/" + id).wants(200)
		late.lacks("Schedule for")
		values := stale.form("Schedule for " + at).values
		values.Set("once", late.form("Duplicate as a draft").values.Get("once"))
		b.send(http.MethodPost, "/posts/"+id+"/schedule", values).wants(422, "The time is in the past.", "A draft.")
	})
}

// What a network refuses is told with its own words, quoted, and can be sent again.
func TestAFailedAccountIsSentAgain(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id := c.draft(t, "No [sandbox:reject]", "")
		b.open("/posts/" + id + "/publish").form("Publish to 1 account").press().wants(200)
		p := b.handedOver(id).
			wants(200, "No account is known to have it.", "The network rejected the content.", "The network said:",
				"It may be sent again 3 times.", "refused")
		c.as(t, access.Viewer).open("/posts/"+id).wants(200, "The network rejected the content.").lacks("Send these again")
		empty := p.form("Send these again")
		delete(empty.values, "account")
		empty.press().wants(422, "Choose at least one account.")
		p.form("Send these again").press().wants(200, "1 account is sent again.")
		c.as(t, access.Admin).open("/settings/audit").
			wants(200,
				fmt.Sprintf("could not publish a post on an account: rejected content : No [sandbox:reject] ( "+
					"Bluesky, harbour%d.test ).", c.team.ID))
		b.handedOver(id).wants(200, "It was sent again moments ago. It may be sent again in ", "second").
			lacks("Send these again", "from Sun")
		h.advance(2 * time.Minute)
		one := b.open("/posts/" + id).follow(fmt.Sprintf("Bluesky: harbour%d.test", c.team.ID))
		one.wants(200, "What was done", "Handed to the network – refused").form("Send again").press().wants(200, "1 account is sent again.")
		b.handedOver(id)

		// The operator sees what a network refused, and not that it still works on something.
		operator := c.operates(t, access.Owner)
		operator.open("/operator/networks").wants(200, "rejected").lacks("Nothing failed")
		h.change(t, `UPDATE delivery_attempts SET call = 'resolve', result = 'processing' WHERE result = 'rejected'`)
		operator.open("/operator/networks").wants(200, "Nothing failed in the last 500 attempts.")

		// Of an account whose connection is lost, what to do is said once.
		h.change(t, `UPDATE social_accounts SET connection_state = 'lost' WHERE id = ?`, c.account)
		h.change(t, `UPDATE post_targets SET error_code = 'account_needs_reauth' WHERE post_id = ?`, id)
		for _, p := range []*page{b.open("/posts/" + id), b.open(one.path)} {
			p.wants(200, "Somebody has to connect it again, then it can be sent again. Accounts").lacks("then retry", "may be sent again")
		}
	})
}

// Of an account of which nobody knows, a person says what is there, and it is kept who.
func TestAPersonDecides(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		for found, want := range map[string][]string{
			"yes": {"Noted: it is there.", "the account has it", "See it at the network"},
			"no":  {"Noted: it is not there.", "Ada editor looked at the network and said that it is not there.", "Send these again"},
		} {
			c := h.crew(t)
			b := c.as(t, access.Editor)
			id := c.draft(t, "Is it there? "+found, "")
			b.open("/posts/" + id + "/publish").form("Publish to 1 account").press().wants(200)
			b.handedOver(id).wants(200, "the account has it")
			h.doubt(t, id)
			p := b.open("/posts/"+id).
				wants(200, "Not confirmed", "try <later>", "The network is asked again whether it stands at",
					"A network may have this post already").lacks("Failed")
			for _, path := range []string{"/posts", "/calendar", "/"} {
				b.open(path).wants(200, "Is it there? "+found, "Not confirmed").lacks("· Failed", ">Failed</span>")
			}
			one := p.follow(fmt.Sprintf("Look at the network, then say what is there : harbour%d.test", c.team.ID)).
				wants(200, "Is it there?")
			form := one.form("Note what I found")
			form.press().wants(422, "Choose what you found.")
			form.values.Set("found", found)
			if found == "yes" {
				wrong := form.fill("permalink", "javascript:alert(1)").press().wants(422, "must be a full URL")
				if again := wrong.form("Note what I found"); again.values.Get("found") != "yes" ||
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
			form.press().wants(200, want...).lacks("The network could not be reached", "A network may have this post already")
			b.open("/notices").wants(200).lacks("checked the network")
			if others := c.as(t, access.Owner).open("/notices"); found == "no" {
				others.wants(200, "A member of your team checked the network and did not find a post.").
					lacks("A post could not be published.")
			} else {
				others.wants(200).lacks("checked the network")
			}
			b.open(one.path).wants(200, "Decided by a person", "by Ada editor").lacks("Note what I found")
			if n := h.count(t, "events WHERE kind = 'post.account_decided' AND subject = ? AND person_id = ?", id,
				c.people[access.Editor].ID); n != 1 {
				t.Errorf("%d events tell who decided", n)
			}
		}
	})
}

func TestAClientIsAsked(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id := c.draft(t, "For the client", "")
		asked := b.open("/posts/"+id).form("Send to the client for approval").press().
			wants(200, "Send the link below to the client", "Waits for the client",
				"A draft. It does not go out by itself. It waits for the client: it cannot go out before", "The client’s link")
		link := ""
		for d := range asked.doc.Descendants() {
			if attribute(d, "id") == "link" {
				link = attribute(d, "value")
			}
		}
		path, ok := strings.CutPrefix(link, h.root)
		if !ok {
			t.Fatalf("the link is %q", link)
		}
		b.open("/posts/"+id).wants(200, "Create another approval link").lacks(path)
		b.open("/posts/" + id).lacks("Publish now")
		h.browser(t).open(path).form("Reject").fill("name", "Ms <Client>").
			fill("comment", "Not the\nsecond <picture>.").press().wants(200, "Rejected")
		b.open("/posts/"+id).wants(200, "Rejected", "By Ms <Client>", "The client wrote:", "Not the second <picture>.")
		b.open("/posts/"+id).form("Send to the client for approval").press().wants(200, "The client’s link", "version 2")
		record := c.as(t, access.Admin).open("/settings/audit").
			wants(200, "The client , by the name of Ms <Client> , rejected a post : For the client .",
				"asked a client to approve a post : For the client .")
		record.form("Show").fill("kind", "post.rejected").press().wants(200, "Client rejected", "Ms <Client>").
			lacks("asked a client to approve")
	})
}

// A client who is in the team decides on the post's page, by the own name, on what waits and on nothing else.
func TestClientsDecideInTheApp(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c, other := h.crew(t), h.crew(t)
		shown, hidden := c.pictureOf(t, "For the client", 20), c.pictureOf(t, "Of nobody", 21)
		id, _ := c.does(t, "create_post",
			map[string]any{
				"caption": "For the client", "account_ids": []int64{c.account},
				"media_ids": []int64{int64(mustNumber(t, strings.TrimPrefix(shown, "/media/")))},
			})["id"].(string)
		editor, client := c.as(t, access.Editor), c.as(t, access.Client)
		at, decision := "/posts/"+id, "/posts/"+id+"/approval/decision"
		client.open(at).wants(200, "The team asks you here once it is to be approved by you.").
			holds(`<img src="`+shown+`/file"`).lacks("Approve</button>", `href="`+shown+`"`)
		client.open(shown + "/thumbnail").wants(200)
		client.open(shown).wants(404)
		for _, path := range []string{hidden, hidden + "/file", hidden + "/thumbnail", "/media"} {
			client.open(path).wants(404)
		}
		says := url.Values{"decision": {"approve"}, "round": {"1"}}
		client.send(http.MethodPost, decision, says).wants(422, "The post does not await approval.")
		editor.open(at).form("Send to the client for approval").press().wants(200)
		client.open("/notices").wants(200, "A post waits for the client’s approval. Clients in the team can decide on its page.")
		editor.send(http.MethodPost, decision, says).wants(403)
		other.as(t, access.Client).send(http.MethodPost, decision, says).wants(404)
		long := client.open(at).wants(200, "You decide as Ada client").form("Reject").
			fill("comment", strings.Repeat("ä", 2001)).press().wants(422, "at most 2000 characters")
		if got := long.form("Reject").values.Get("comment"); len([]rune(got)) != 2001 {
			t.Errorf("%d characters of the comment are left", len([]rune(got)))
		}
		long.form("Reject").fill("comment", "Not so <loud>.").press().
			wants(200, "Rejected. The team is told", "By Ada client", "Not so <loud>.").lacks("Approve</button>")
		editor.open(at+"/edit").form("Save").fill("caption", "Quieter").press().wants(200)
		client.send(http.MethodPost, decision, says).wants(422, "has changed, so your decision was not saved")
		client.open(at).form("Approve").press().wants(200, "Approved. The team is told.", "version 2")
		client.send(http.MethodPost, decision,
			url.Values{"decision": {"reject"}, "round": {"2"}, "comment": {"Not <this> way."}}).
			wants(422, "This version has already been decided.", "Ada client approved the post",
				"What you wrote was not sent.", "Not <this> way.")
		for _, kind := range []string{"post.rejected", "post.approved"} {
			if n := h.count(t, "events WHERE kind = ? AND subject = ? AND person_id = ?", kind, id, c.people[access.Client].ID); n != 1 {
				t.Errorf("%d events tell that the client decided: %s", n, kind)
			}
		}
		editor.open("/notices").
			wants(200, "The client approved a post. It is still a draft: schedule or publish it.",
				"The client rejected a post and left a comment.")
		c.as(t, access.Admin).open("/settings/audit").wants(200, "Ada client approved a post : Quieter").lacks("by the name of")
		editor.open(at).wants(200, "A draft. It does not go out by itself")
	})
}

// One post of a series is skipped while the series goes on, and the series is paused from the page of any of its posts.
func TestAnOccurrenceIsSkipped(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		id := c.draft(t, "Every day", c.wish(24*time.Hour))
		_, err := c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, id, "FREQ=DAILY")
		must(t, err)
		b := c.as(t, access.Editor)
		next := func(days int) string {
			return c.now().AddDate(0, 0, days).In(berlin(t)).Format("Mon 2 Jan 2006, 15:04")
		}
		first := b.open("/posts/"+id).follow(next(1)).wants(200, "Skip this one", "Pause the series").lacks("Unschedule")
		b.send(http.MethodPost, "/posts/"+id+"/skip", url.Values{}).wants(422, "nothing to skip")
		first.form("Skip this one").press().
			wants(200,
				"Skipped: this post is a draft now, and the series goes on with the next one. It was set for "+next(1)+
					".", "A draft.").lacks("Schedule for", "Skip this one")
		must(t, c.Posts.CreateOccurrences(t.Context()))
		second := b.open("/posts/"+id).lacks(next(1)).follow(next(2)).wants(200, "It goes out by itself at")
		second.form("Pause the series").press().wants(200, "The series is paused", "If it went on now, it would go out:", next(2), next(3))
		b.open(second.path).wants(200, "A draft.").lacks("Skip this one")
		b.open("/posts/"+id).form("Let the series go on").press().wants(200, "The series goes on.", next(2)).lacks(next(1))
		b.open(first.path).wants(200, "A draft.")
	})
}

func TestASeriesIsPausedAndEnded(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		id := c.draft(t, "Every week", c.wish(24*time.Hour))
		_, err := c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, id, "FREQ=WEEKLY;INTERVAL=2;COUNT=20")
		must(t, err)
		b := c.as(t, access.Editor)
		p := b.open("/posts/"+id).wants(200, "A series is made from this post", "Every 2 weeks, 20 times, in Europe/Berlin.", "Next:")
		p.lacks("Publish now", "/edit\"")
		day := c.now().Add(24 * time.Hour).In(berlin(t))
		occurrence := p.follow(day.Format("Mon 2 Jan 2006, 15:04")).
			wants(200, "It goes out by itself at", "The post that the series is made from")
		month := b.open("/calendar?day="+day.AddDate(0, 0, 14).Format(time.DateOnly)).wants(200, "Every week")
		if n := strings.Count(month.text(), "To come · series"); n == 0 {
			t.Errorf("the calendar tells nothing to come: %s", month.text())
		}
		paused := p.form("Pause the series").press().
			wants(200, "The series is paused: nothing of it goes out", "stands still",
				"If it went on now, it would go out:", "Drafts updated from the template: 1.").
			lacks("Unscheduled", "Nothing of it is to come")
		b.open(occurrence.path).wants(200, "A draft.")
		paused.follow(day.Format("Mon 2 Jan 2006, 15:04")).wants(200, "A draft.")
		paused.follow("Change").form("Save").fill("caption", "Every week anew").press().wants(200, "Saved. The series stands still")
		b.open("/posts/"+id).form("Let the series go on").press().
			wants(200, "The series goes on. Drafts updated from the template: 1.", "Next:").lacks("keep their own")
		b.open(occurrence.path).wants(200, "It goes out by itself at", "Every week anew").follow("Change").form("Save").
			fill("caption", "By hand").press().wants(200, "It goes out at its time.")
		b.open("/posts/"+id).form("Pause the series").press().wants(200, "changed by hand", "Drafts that keep their own changes: 1.")
		b.open("/posts/"+id+"/edit").form("Save and let it go on").press().
			wants(200, "The series goes on, next on "+day.Format("Mon 2 Jan 2006, 15:04"), "Drafts that keep their own changes: 1.")
		b.open(occurrence.path).wants(200, "It goes out by itself at", "By hand")
		b.open("/posts/"+id).follow("End the series…").wants(200, "The series ends for good", "stays as a draft").
			form("End the series").press().wants(200, "The series has ended.", "Publish now…")
		b.open("/posts/"+id+"/series/end").wants(200, "Publish now…")
		b.send(http.MethodPost, "/posts/"+id+"/series/resume", url.Values{}).wants(422, "No series is made from this post.")
	})
}

// A series whose account is lost says in words what keeps it from going on, and where that is mended.
func TestASeriesWithoutItsAccount(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		id := c.draft(t, "Every week", c.wish(24*time.Hour))
		_, err := c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, id, "FREQ=WEEKLY")
		must(t, err)
		b := c.as(t, access.Editor)
		goOn := b.open("/posts/" + id).form("Pause the series").press().wants(200).form("Let the series go on")
		c.change(t, `UPDATE social_accounts SET connection_state = 'lost' WHERE id = ?`, c.account)
		for _, p := range []*page{b.open("/posts/"+id).wants(200, "What the networks say to it"), goOn.press().
			wants(422, "It cannot go out like this.")} {
			p.wants(p.status, "The series cannot go on like this", "The account is disconnected.", "connect it again under Accounts")
			p.holds(`href="/accounts"`, `href="/posts/`+id+`/edit"`).lacks("account_inactive", "validation tells", "Let the series go on")
		}
	})
}

func TestTheCalendarKnowsItsZone(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		b.open("/calendar").wants(200, "Nothing is planned here yet.", h.now().In(berlin(t)).Format("January 2006")).lacks("/posts/new")
		for i, at := range []string{
			"2027-03-27T23:30:00Z", "2027-03-28T00:30:00Z", "2027-03-28T22:30:00Z", "2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z",
		} {
			c.draft(t, fmt.Sprint("Wish ", i), at)
		}
		march := b.open("/calendar?day=2027-03-05").
			wants(200, "March 2027", "Clocks go forward", "00:30 CET Wish 0", "01:30 CET Wish 1", "00:30 Wish 2")
		march.follow("Month after").wants(200, "April 2027", "00:30 Wish 2").lacks("Wish 3")
		march.follow("Month before").wants(200, "February 2027")
		b.open("/calendar?day=2027-10-01").wants(200, "Clocks go back", "02:30 CEST Wish 3", "02:30 CET Wish 4")
		week := b.open("/calendar?view=week&day=2027-03-28").wants(200, "Week of 22 March 2027", "Wish 0", "Wish 1").lacks("Wish 2")
		week.follow("Week after").wants(200, "Week of 29 March 2027", "Wish 2").lacks("Wish 1")
		week.follow("Whole month").wants(200, "March 2027")
		march.form("Show").fill("day", "2027-10-02").press().wants(200, "October 2027")
		b.open("/calendar?day=someday").wants(422, "has to be a date")
		b.open("/calendar?day=9999-12-31").wants(422, "has to be a date")
		for i := range 6 {
			c.draft(t, fmt.Sprint("Crowd ", i), "2027-06-15T10:00:00Z")
		}
		june := b.open("/calendar?day=2027-06-01").wants(200, "Crowd 0", "Crowd 3").lacks("Crowd 4")
		june.follow("All posts of Tuesday 15 June").wants(200, "Crowd 5", "Crowd 0")
		b.open("/calendar?view=week&day=2027-06-15").wants(200, "Crowd 5")
	})
}

// second is another account of the crew's, of which nothing is known but its name.
func (c *crew) second(t *testing.T) int64 {
	t.Helper()
	var id int64
	must(t, c.db.InTx(t.Context(), "test.second", func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx,
			`INSERT INTO social_accounts (team_id, platform, network_id, username, display_name, connection_state,
		sealed_grant, created_at, updated_at)
			VALUES (?, 'threads', ?, 'second', '', 'connected', '', 1, 1) RETURNING id`, c.team.ID,
			fmt.Sprint("second of ", c.team.ID)).Scan(&id)
	}))
	return id
}

// The calendar shows one account's posts alone, leads to writing one for a day that is to come, and keeps the account.
func TestTheCalendarOfAnAccount(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		second := c.second(t)
		c.draft(t, "On the first", "2027-06-15T10:00:00Z")
		id, _ := c.does(t, "create_post", map[string]any{"caption": "On the second", "account_ids": []int64{second}})["id"].(string)
		c.does(t, "update_post", map[string]any{"id": id, "scheduled_at": "2027-06-16T10:00:00Z"})
		series := c.draft(t, "Daily on the first", "2027-06-17T10:00:00Z")
		_, err := c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, series, "FREQ=DAILY;COUNT=9")
		must(t, err)
		b := c.as(t, access.Editor)
		june := b.open("/calendar?day=2027-06-01").wants(200, "On the first", "On the second", "To come")
		one := june.form("Show").fill("account", fmt.Sprint(second)).press().wants(200, "On the second").
			lacks("on the first", "On the first")
		one.follow("Month after").wants(200, "July 2027", "Nothing is planned here for this account yet.").
			follow("Month before").wants(200, "On the second").lacks("On the first")
		one.follow("Week").wants(200, "Week of").lacks("On the first")
		form := one.follow("Write a post for Friday 18 June").wants(200, "New post").form("Check")
		if form.values.Get("date") != "2027-06-18" || form.values.Get("account") != fmt.Sprint(second) {
			t.Errorf("the form begins with %v", form.values)
		}
		b.open("/calendar?day=2020-06-01").wants(200).lacks("/posts/new?date=")
		b.open("/calendar?account=x").wants(422, "Choose one of the accounts.")
		c.as(t, access.Viewer).open("/calendar?day=2027-06-01").wants(200, "On the first").lacks("/posts/new")
	})
}

// A list tells series from single posts, what waits for the client, and shows the first picture.
func TestListsTellPostsApart(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		series := c.draft(t, "Every day anew", c.wish(24*time.Hour))
		_, err := c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, series, "FREQ=DAILY")
		must(t, err)
		waits := c.draft(t, "For the client", "")
		b.open("/posts/" + waits).form("Send to the client for approval").press().wants(200)
		media := strings.TrimPrefix(c.pictureOf(t, "cup", 3), "/media/")
		c.does(t, "create_post",
			map[string]any{"caption": "With a picture", "account_ids": []int64{c.account}, "media_ids": []int{mustNumber(t, media)}})
		b.open("/posts").wants(200, "Every day anew Series From", "Waits for the client Draft", "With a picture").
			holds(fmt.Sprintf(`src="/media/%s/thumbnail"`, media))
		b.open("/posts/" + series).form("Pause the series").press().wants(200)
		b.open("/posts").wants(200, "Every day anew Series, paused")
	})
}

// While publishing is paused the buttons say so and do nothing, also what no operation of the API does.
func TestPausesHoldInTheApp(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		series := c.draft(t, "Every day anew", c.wish(24*time.Hour))
		_, err := c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, series, "FREQ=DAILY")
		must(t, err)
		draft := c.draft(t, "A draft", c.wish(50*time.Hour))
		ask, end := b.open("/posts/"+draft).
			form("Send to the client for approval"), b.open("/posts/"+series+"/series/end").form("End the series")
		must(t, h.Teams.Pause(t.Context(), team.Pause{Scope: team.ForTeam, Target: c.team.ID, Action: team.Publishing}))
		const why = "Publishing is paused."
		end.press().wants(403, why)
		b.open("/posts/"+draft).wants(200, why, "Publish now…", "Schedule for").lacks("/posts/" + draft + "/publish\"")
		b.open("/posts/"+draft+"/publish").form("Publish to 1 account").press().wants(403, why)
		b.open("/posts/"+series).wants(200, why, "End the series…").lacks("/series/end\"")
		b.open("/posts/new").wants(200, why)
		ask.press().wants(200, "The post waits for the client.")
		must(t, h.Teams.Pause(t.Context(), team.Pause{Scope: team.ForTeam, Target: c.team.ID, Action: team.Everything}))
		ask.press().wants(403, "Changes are paused.")
		if held := c.stored(t, "/posts/"+series); !held.IsTemplate || held.Status != post.Scheduled {
			t.Errorf("%+v", held)
		}
	})
}

// Whoever may not is refused at every address, and told nothing.
func TestWhoMayDoWhatWithPosts(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c, others := h.crew(t), h.crew(t)
		id := c.draft(t, "Ours alone", c.wish(48*time.Hour))
		c.does(t, "publish_post", map[string]any{"post_id": id})
		job, _ := c.does(t, "publish_post", map[string]any{"post_id": id})["job_id"].(string)
		account := fmt.Sprintf("/posts/%s/accounts/%d", id, c.account)
		reads := []string{
			"/posts", "/calendar", "/posts/" + id, "/posts/" + id + "/live", account, "/posts/" + id + "/publish",
			"/posts/" + id + "/series/end", "/jobs/" + job, "/jobs/" + job + "/live",
		}
		writes := []string{
			account + "/decision", "/posts/" + id + "/publish", "/posts/" + id + "/schedule",
			"/posts/" + id + "/cancel", "/posts/" + id + "/retry", "/posts/" + id + "/duplicate",
			"/posts/" + id + "/approval", "/posts/" + id + "/series/resume", "/posts/" + id + "/series/end",
		}
		c.as(t, access.Owner).handedOver(id)
		before := h.count(t, "events WHERE kind <> 'person.signed_in'")
		out := h.browser(t)
		for i, path := range append(slices.Clone(reads), writes...) {
			method := http.MethodGet
			if i >= len(reads) {
				method = http.MethodPost
			}
			if p := out.send(method, path, nil).wants(200, "Sign in").lacks("Ours alone"); !strings.HasPrefix(p.path, "/sign-in") {
				t.Errorf("signed out, %s leads to %s", path, p.path)
			}
		}
		stranger, viewer := others.as(t, access.Owner), c.as(t, access.Viewer)
		for _, path := range reads[2:] {
			stranger.open(path).wants(404, "There is no such page, or it is not for you.").lacks("Ours alone", c.team.Name)
		}
		once := viewer.open("/posts/"+id).wants(200, "Ours alone",
			"Your role lets you look at the post.").lacks("<form method=\"post\" action=\"/posts").header.Get("Date")
		form := url.Values{
			"once": {c.now().UTC().Format("20060102T150405") + "-" + once}, "found": {"yes"},
			"account": {fmt.Sprint(c.account)}, "at": {c.wish(time.Hour)},
		}
		for _, path := range writes {
			stranger.send(http.MethodPost, path, form).wants(404).lacks("Ours alone", c.team.Name)
			viewer.send(http.MethodPost, path, form).wants(403, "Your role in this team does not allow this.")
		}
		for _, path := range []string{"/posts/" + id + "/publish", "/posts/" + id + "/series/end"} {
			viewer.open(path).wants(403)
		}
		for _, path := range []string{
			"/posts/x_y", "/posts/x_y/live", "/posts/" + id + "/accounts/x", "/posts/" + id + "/accounts/99999",
			"/jobs/none", "/jobs/social_post:1",
		} {
			viewer.open(path).wants(404)
		}
		if after := h.count(t, "events WHERE kind <> 'person.signed_in'"); after != before {
			t.Errorf("%d things were done", after-before)
		}
	})
}

// A job of any type is shown with how far it is, and leads on to what it is about.
func TestJobsAreShown(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		waiting, _ := c.does(t, "create_uploads", map[string]any{})["job_id"].(string)
		p := b.open("/jobs/"+waiting).wants(200, "Bringing files into the library", "Waiting", "This page follows by itself.", waiting)
		if !strings.Contains(p.source, "/upload/"+strings.TrimPrefix(waiting, "media_import:")) {
			t.Errorf("the page does not lead to the files: %s", p.source)
		}
		b.open("/jobs/"+waiting+"/live").wants(200, "Waiting").lacks("<html")
		h.change(t, `UPDATE jobs SET state = 'failed', error_code = 'upload_expired', finished_at = ? WHERE id = ?`,
			db.Micros(h.now()), waiting)
		b.open("/jobs/"+waiting).wants(200, "Failed", "Ended", "Not every file arrived before the links expired.").
			lacks("This page follows")
	})
}

// A person of several teams is shown the item of the other one, and looks at that team from then on.
func TestAnItemOfAnotherTeamOfMine(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c, others := h.crew(t), h.crew(t)
		id := c.draft(t, "Over there", "")
		job, _ := c.does(t, "publish_post", map[string]any{"post_id": id})["job_id"].(string)
		must(t, h.Teams.SetMember(t.Context(), others.team.ID, c.people[access.Viewer].ID, access.Viewer))
		reads := map[string]string{
			"/posts/" + id: "harbour", "/jobs/" + job: "Open the post", fmt.Sprintf("/posts/%s/accounts/%d", id, c.account): "harbour",
		}
		for path, says := range reads {
			b := c.as(t, access.Viewer)
			b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(others.team.ID)}}).wants(200, others.team.Name)
			b.open(path).wants(200, "This is of the team "+c.team.Name, says)
			b.open("/posts").wants(200, "Over there")
		}
	})
}

// Pages stay small, whatever a post holds.
func TestPagesOfPostsStaySmall(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		long := strings.Repeat("𝔘𝔫𝔦 ", 2000)
		id := c.draft(t, long, "2027-06-15T10:00:00Z")
		for i := range 40 {
			c.draft(t, long, fmt.Sprintf("2027-06-%02dT10:%02d:00Z", 1+i%30, i))
		}
		b := c.as(t, access.Owner)
		for _, path := range []string{
			"/posts", "/posts?from=2027-01-01", "/calendar?day=2027-06-01", "/calendar?view=week&day=2027-06-15",
			"/posts/" + id, fmt.Sprintf("/posts/%s/accounts/%d", id, c.account),
		} {
			if p := b.open(path).wants(200); len(p.source) > 100_000 {
				t.Errorf("%s has %d bytes", path, len(p.source))
			}
		}
	})
}
