package app

import (
	"context"
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Several posts are moved together. They keep their time of day across a clock change, and each result is shown.
func TestMoveSelectedPosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		at := time.Date(h.now().Year()+1, 3, 20, 9, 30, 0, 0, berlin(t))
		timed, sent, idea := c.draft(t, "Has a time", at.Format(time.RFC3339)), c.draft(t, "Is out", ""), c.draft(t, "An idea", "")
		planned := c.draft(t, "Is scheduled", at.Format(time.RFC3339))
		c.callTool(t, "schedule_post", map[string]any{"post_id": planned, "scheduled_at": at.Format(time.RFC3339)})
		h.change(t, `UPDATE posts SET status = 'published' WHERE id = ?`, sent)
		moved := b.open("/posts").form("Reschedule").fill("post", timed, sent, idea, planned).
			fill("how", "shift").fill("days", "14").press()
		moved.shows(200, "Has a time Moved to Sat 3 Apr "+at.Format("2006")+", 09:30.", "Is scheduled Moved to Sat 3 Apr",
			"Not changed: Is out A submitted post cannot be changed.", "Not changed: An idea It has no date, so it cannot be moved.")
		if got := c.scheduledAt(t, planned).In(berlin(t)); !got.Equal(at.AddDate(0, 0, 14)) {
			t.Errorf("scheduled for %s", got)
		}
		b.open("/posts").shows(200).lacks("Not changed")

		day := at.AddDate(0, 1, 0).Format(time.DateOnly)
		list := b.open("/posts?status=draft")
		list.form("Reschedule").fill("post", timed, idea).fill("day", day).press().
			shows(200, "Has a time Moved to", "An idea Moved to "+at.AddDate(0, 1, 0).Format("Mon 2 Jan 2006")+".", "Planned for").
			contains(`aria-current="page">Drafts`)
		b.open("/posts?status=draft").form("Reschedule").fill("post", timed).fill("day", "2001-01-01").press().
			shows(200, "Not changed: Has a time That time has passed.")
		list.form("Reschedule").fill("post", timed).press().shows(200, "Enter a date, a time or a number of days.")
		list.form("Reschedule").fill("post", timed).fill("how", "shift").fill("days", "0").press().shows(200, "such as 7 or -1")
		list.form("Reschedule").fill("how", "shift").fill("days", "1").press().shows(200, "Select at least one post.")
		c.as(t, access.Viewer).open("/posts").shows(200, "Has a time").lacks("Reschedule", "Delete…")
	})
}

// Several posts get a time of day, on their own day or on another one.
func TestSetTimeOfSelectedPosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		at := time.Date(h.now().Year()+1, 3, 10, 9, 30, 0, 0, berlin(t))
		one, idea := c.draft(t, "Has a time", at.Format(time.RFC3339)), c.draft(t, "An idea", "")
		b.open("/posts").form("Reschedule").fill("post", one, idea).fill("time", "17:45").press().
			shows(200, "Has a time Moved to", "17:45", "Not changed: An idea It has no date, so it cannot be moved.")
		want := time.Date(at.Year(), 3, 10, 17, 45, 0, 0, berlin(t))
		if got := c.scheduledAt(t, one); !got.Equal(want) {
			t.Errorf("planned for %s, want %s", got, want)
		}
		b.open("/posts").form("Reschedule").fill("post", one, idea).fill("day", want.AddDate(0, 0, 3).Format(time.DateOnly)).
			fill("time", "08:00").press().shows(200, "An idea Moved to")
		for _, id := range []string{one, idea} {
			if got, want := c.scheduledAt(t, id), time.Date(at.Year(), 3, 13, 8, 0, 0, 0, berlin(t)); !got.Equal(want) {
				t.Errorf("planned for %s, want %s", got, want)
			}
		}
	})
}

// Submitting a form twice moves its posts once. A post that was changed in the meantime is not moved.
func TestMoveSelectedPostsTwice(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		id := c.draft(t, "Has a time", c.apiTime(72*time.Hour))
		want := c.scheduledAt(t, id).In(berlin(t)).AddDate(0, 0, 7)
		form := b.open("/posts").form("Reschedule").fill("post", id).fill("how", "shift").fill("days", "7")
		form.press().shows(200, "Has a time Moved to")
		form.press().shows(200, "Not changed: Has a time It has changed since the list was loaded. Check it and try again.")
		if got := c.scheduledAt(t, id); !got.Equal(want) {
			t.Errorf("planned for %s, want %s", got, want)
		}
		form = b.open("/posts").form("Reschedule").fill("post", id).fill("how", "shift").fill("days", "7")
		form.fill("seen-"+id, "").press().shows(200, "Not changed: Has a time This page has expired.")
	})
}

// After an internal error the list shows which posts were changed, which post failed and which were not tried.
func TestSelectedPostsAfterInternalError(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		ids := []string{}
		for range 3 {
			ids = append(ids, c.draft(t, "Has a time", c.apiTime(72*time.Hour)))
		}
		slices.Sort(ids) // the order in which they are moved
		kept := c.scheduledAt(t, ids[2])
		list := c.as(t, access.Editor).open("/posts")
		h.change(t, `UPDATE posts SET options = 'broken' WHERE id = ?`, ids[1])
		list.form("Reschedule").fill("post", ids...).fill("how", "shift").fill("days", "7").press().
			shows(200, "Has a time Moved to", "Not changed: A post An internal error occurred. Check the post, then try again.",
				"Not changed: A post Not tried.")
		if got := c.scheduledAt(t, ids[2]); !got.Equal(kept) {
			t.Errorf("the last post moved to %s", got)
		}
	})
}

// scheduledAt returns the time of a post.
func (c *crew) scheduledAt(t *testing.T, id string) time.Time {
	t.Helper()
	return must.Get(c.Posts.Load(context.WithoutCancel(t.Context()), c.team.ID, id))(t).ScheduledAt
}

// Several posts are unscheduled together. A post of a series is unscheduled without affecting the series. Several
// drafts are deleted together after a confirmation.
func TestUnscheduleAndDeleteSelectedPosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		template := c.draft(t, "Every day", c.apiTime(24*time.Hour))
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, template, "FREQ=DAILY", nil))(t)
		var occurrence string
		must.NoError(t, h.db.QueryRow(t.Context(), `SELECT id FROM posts WHERE team_id = ? AND occurs_at > 0`,
			c.team.ID).Scan(&occurrence))
		one, idea := c.draft(t, "Is scheduled", ""), c.draft(t, "An idea", "")
		c.callTool(t, "schedule_post", map[string]any{"post_id": one, "scheduled_at": c.apiTime(48 * time.Hour)})
		list := b.open("/posts").form("Unschedule the selected posts").fill("post", one, idea, occurrence)
		for range 2 { // sent twice
			list.press().shows(200, "Not changed: An idea It is not scheduled.")
		}
		if n := h.count(t, "events WHERE kind = 'post.cancelled' AND subject = ?", one); n != 1 {
			t.Errorf("unscheduled %d times", n)
		}
		b.open("/posts/"+template).shows(200, "Series").lacks("Series, paused")

		c.callTool(t, "schedule_post", map[string]any{"post_id": one, "scheduled_at": c.apiTime(48 * time.Hour)})
		asked := b.open("/posts").form("Delete…").fill("post", idea, one, template).press().
			shows(200, "Delete 2 posts?", "An idea", "Is scheduled", "1 of the selected posts can’t be deleted and stays.")
		asked.form("Delete 2 posts").press().shows(200, "An idea Deleted.", "Is scheduled Deleted.")
		if n := h.count(t, "posts WHERE id IN (?, ?, ?)", idea, one, template); n != 1 {
			t.Errorf("%d of 3 posts remain", n)
		}
		b.open("/posts").form("Delete…").fill("post", template).press().shows(200, "None of the selected posts can be deleted.")

		// The posts of another team are not found.
		other := h.crew(t)
		theirs := other.draft(t, "Of another team", "")
		form := b.open("/posts").form("Delete…").fill("post", theirs)
		form.values.Set("sure", "yes")
		form.press().shows(200, "It no longer exists.").lacks("Of another team")
		if n := h.count(t, "posts WHERE id = ? AND updated_at <= ?", theirs, db.Micros(h.now())); n != 1 {
			t.Error("a post of another team was deleted")
		}
	})
}

// Posts and drafts stay on their day if clocks skip midnight on that day. Posts cannot be moved to a skipped time.
func TestMoveSelectedPostsWhenClocksChange(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		year := h.now().Year() + 1
		change := time.Date(year, 3, 31, 1, 0, 0, 0, time.UTC) // the last Sunday of March
		change = change.AddDate(0, 0, -int(change.Weekday()))
		day, said := change.Format(time.DateOnly), change.Format("Mon 2 Jan 2006")

		early := c.draft(t, "Early", change.Add(-24*time.Hour+30*time.Minute).Format(time.RFC3339)) // 02:30
		kept := c.scheduledAt(t, early)
		b.open("/posts").form("Reschedule").fill("post", early).fill("how", "shift").fill("days", "1").press().
			shows(200, "Not changed: Early This time does not exist in Europe/Berlin on that day")
		if got := c.scheduledAt(t, early); !got.Equal(kept) {
			t.Errorf("moved to %s", got)
		}

		h.change(t, `UPDATE teams SET timezone = 'Atlantic/Azores' WHERE id = ?`, c.team.ID) // midnight becomes 01:00
		zone := must.Get(time.LoadLocation("Atlantic/Azores"))(t)
		last := c.draft(t, "Last of the day before", change.Add(-30*time.Minute).Format(time.RFC3339))
		idea := c.draft(t, "An idea", "")
		b.open("/posts?from=" + day).shows(200).lacks("Last of the day before")
		b.open("/posts?to="+change.AddDate(0, 0, -1).Format(time.DateOnly)).shows(200, "Last of the day before")
		b.open("/posts").form("Reschedule").fill("post", last, idea).fill("day", day).press().
			shows(200, "Last of the day before Moved to "+said+", 23:30", "An idea Moved to "+said+".")
		if got := c.scheduledAt(t, last).In(zone).Format(time.DateTime); got != day+" 23:30:00" {
			t.Errorf("moved to %s", got)
		}
		b.open("/posts").form("Reschedule").fill("post", idea).fill("how", "shift").fill("days", "7").press().
			shows(200, "An idea Moved to "+change.AddDate(0, 0, 7).Format("Mon 2 Jan 2006")+".")
		b.open("/posts").form("Reschedule").fill("post", idea).fill("how", "shift").fill("days", "-7").press().
			shows(200, "An idea Moved to "+said+".")
	})
}

// The selected posts, or all posts of the filters, are exported as CSV.
func TestExportSelectedPosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		b := c.as(t, access.Editor)
		at := time.Date(h.now().Year()+1, 3, 20, 9, 30, 0, 0, berlin(t))
		timed, idea := c.draft(t, "=Has a time", at.Format(time.RFC3339)), c.draft(t, "An idea,\non two lines", "")
		theirs := other.draft(t, "Of another team", "")
		b.open("/posts").shows(200, "Export")
		one := b.open("/posts/posts.csv?post="+timed+"&post="+theirs).contains("id,status,time,accounts,text,links,views,likes,",
			timed+",draft,"+at.Format(time.RFC3339)+",bluesky:"+c.handle()+",'=Has a time,,,,,,")
		one.lacks("Of another team", "An idea")
		all := b.open("/posts/posts.csv?everything=yes&back=status%3Ddraft&post="+timed).contains(timed, idea+",draft,,", "\"An idea,")
		all.lacks(theirs)
		b.open("/posts/posts.csv?back=status%3Ddraft").shows(200, "Select at least one post.").contains(`aria-current="page">Drafts`)
	})
}
