package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/must"
)

// One occurrence is skipped while the series continues. The series can be paused from each occurrence's page.
func TestSkipOccurrence(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "Every day", c.timeIn(24*time.Hour))
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, id, "FREQ=DAILY", nil))(t)
		b := c.as(t, access.Editor)
		next := func(days int) string {
			return c.now().AddDate(0, 0, days).In(berlin(t)).Format("Mon 2 Jan 2006, 15:04")
		}
		first := b.open("/posts/"+id).follow(next(1)).wants(200, "Skip this one", "Pause the series").lacks("Unschedule")
		b.send(http.MethodPost, "/posts/"+id+"/skip", url.Values{}).wants(422, "nothing to skip")
		first.form("Skip this one").press().
			wants(200,
				"Skipped. This post is now a draft, and the series continues with the next one. It was scheduled for "+next(1)+
					".", "Not scheduled yet.").lacks("Schedule for", "Skip this one")
		must.NoError(t, c.Posts.CreateOccurrences(t.Context()))
		second := b.open("/posts/"+id).lacks(next(1)).follow(next(2)).wants(200, "Scheduled for")
		second.form("Pause the series").press().
			wants(200, "The series was paused", "If resumed now, the series would publish:", next(2), next(3))
		b.open(second.path).wants(200, "Draft, planned for").lacks("Skip this one")
		b.open("/posts/"+id).form("Resume the series").press().wants(200, "The series was resumed.", next(2)).lacks(next(1))
		b.open(first.path).wants(200, "Not scheduled yet.")
	})
}

func TestPauseAndEndSeries(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "Every week", c.timeIn(24*time.Hour))
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, id, "FREQ=WEEKLY;INTERVAL=2;COUNT=20", nil))(t)
		b := c.as(t, access.Editor)
		p := b.open("/posts/"+id).wants(200, "This post is the template of a series", "Every 2 weeks, 20 times, in Europe/Berlin.", "Next:")
		p.lacks("Publish now", "/edit\"")
		day := c.now().Add(24 * time.Hour).In(berlin(t))
		occurrence := p.follow(day.Format("Mon 2 Jan 2006, 15:04")).
			wants(200, "Scheduled for", "Template of the series")
		month := b.open("/calendar?day="+day.AddDate(0, 0, 14).Format(time.DateOnly)).wants(200, "Every week")
		if n := strings.Count(month.text(), "Upcoming · series"); n == 0 {
			t.Errorf("the calendar shows nothing upcoming: %s", month.text())
		}
		paused := p.form("Pause the series").press().
			wants(200, "The series was paused: nothing is published", "Paused.",
				"If resumed now, the series would publish:", "Drafts updated from the template: 1.").
			lacks("Unscheduled", "No further posts are planned")
		b.open(occurrence.path).wants(200, "Draft, planned for")
		paused.follow(day.Format("Mon 2 Jan 2006, 15:04")).wants(200, "Draft, planned for")
		paused.follow("Edit").form("Save").fill("caption", "Every week anew").press().wants(200, "Saved. The series is paused")
		b.open("/posts/"+id).form("Resume the series").press().
			wants(200, "The series was resumed. Drafts updated from the template: 1.", "Next:").lacks("keep their own")
		b.open(occurrence.path).wants(200, "Scheduled for", "Every week anew").follow("Edit").form("Save").
			fill("caption", "By hand").press().wants(200, "It will be published at its scheduled time.")
		b.open("/posts/"+id).form("Pause the series").press().wants(200, "edited", "Drafts that keep their own changes: 1.")
		b.open("/posts/"+id+"/edit").form("Save and resume").press().
			wants(200, "The series was resumed, next on "+day.Format("Mon 2 Jan 2006, 15:04"), "Drafts that keep their own changes: 1.")
		b.open(occurrence.path).wants(200, "Scheduled for", "By hand")
		b.open("/posts/"+id).follow("End the series…").wants(200, "This permanently ends the series", "stays as a draft").
			form("End the series").press().wants(200, "The series has ended.", "Publish now…")
		b.open("/posts/"+id+"/series/end").wants(200, "Publish now…")
		b.send(http.MethodPost, "/posts/"+id+"/series/resume", url.Values{}).wants(422, "This post does not repeat.")
	})
}

// A series whose account is disconnected explains why it stopped and links to the fix.
func TestSeriesWithoutAccount(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "Every week", c.timeIn(24*time.Hour))
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, id, "FREQ=WEEKLY", nil))(t)
		b := c.as(t, access.Editor)
		goOn := b.open("/posts/" + id).form("Pause the series").press().wants(200).form("Resume the series")
		c.change(t, `UPDATE social_accounts SET connection_state = 'lost' WHERE id = ?`, c.account)
		for _, p := range []*page{b.open("/posts/"+id).wants(200, "Network checks"), goOn.press().
			wants(422, "The post cannot be published.")} {
			p.wants(p.status, "The series cannot resume", "The account is disconnected.", "reconnect it")
			p.holds(`href="/accounts"`, `href="/posts/`+id+`/edit"`).lacks("account_inactive", "Resume the series")
		}
	})
}

func TestCalendarTimeZone(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		next := h.now().In(berlin(t)).AddDate(0, 0, 7)
		b.open("/calendar").wants(200, "Nothing is planned here yet.", next.Format("January")).lacks("/posts/new")
		for i, at := range []string{
			"2027-03-27T23:30:00Z", "2027-03-28T00:30:00Z", "2027-03-28T22:30:00Z", "2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z",
		} {
			c.draft(t, fmt.Sprint("Wish ", i), at)
		}
		march := b.open("/calendar?day=2027-03-05").
			wants(200, "March 2027", "Clocks go forward", "00:30 CET Wish 0", "01:30 CET Wish 1", "00:30 Wish 2")
		march.follow("Next month").wants(200, "April 2027", "00:30 Wish 2").lacks("Wish 3")
		march.follow("Previous month").wants(200, "February 2027")
		b.open("/calendar?day=2027-10-01").wants(200, "Clocks go back", "02:30 CEST Wish 3", "02:30 CET Wish 4")
		week := b.open("/calendar?view=week&day=2027-03-28").wants(200, "22 – 28 March 2027", "Wish 0", "Wish 1").lacks("Wish 2")
		week.follow("Next week").wants(200, "29 Mar – 4 Apr 2027", "Wish 2").lacks("Wish 1")
		week.follow("Month").wants(200, "March 2027")
		march.form("Apply").fill("day", "2027-10-02").press().wants(200, "October 2027")
		b.open("/calendar?day=someday").wants(422, "Enter a date from the year 2000 on")
		b.open("/calendar?day=9999-12-31").wants(422, "Enter a date from the year 2000 on")
		for i := range 6 {
			c.draft(t, fmt.Sprint("Crowd ", i), "2027-06-15T10:00:00Z")
		}
		june := b.open("/calendar?day=2027-06-01").wants(200, "Crowd 0", "Crowd 2").lacks("Crowd 3")
		june.follow("More posts of Tuesday 15 June").wants(200, "Tuesday 15 June 2027", "Crowd 5", "Crowd 0")
		b.open("/calendar?view=week&day=2027-06-15").wants(200, "Crowd 5")
	})
}

// addAccount adds a Threads account to the team and returns its ID.
func (c *crew) addAccount(t *testing.T) int64 {
	t.Helper()
	var id int64
	must.NoError(t, c.db.InTx(t.Context(), "test.second", func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx,
			`INSERT INTO social_accounts (team_id, platform, network_id, username, display_name, connection_state,
		sealed_grant, created_at, updated_at)
			VALUES (?, 'threads', ?, 'second', '', 'connected', '', 1, 1) RETURNING id`, c.team.ID,
			fmt.Sprint("second of ", c.team.ID)).Scan(&id)
	}))
	return id
}

// The calendar filters by account, links future days to the composer, and keeps the filter.
func TestAccountCalendar(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		second := c.addAccount(t)
		c.draft(t, "On the first", "2027-06-15T10:00:00Z")
		id, _ := c.callTool(t, "create_post", map[string]any{"caption": "On the second", "account_ids": []int64{second}})["id"].(string)
		c.callTool(t, "update_post", map[string]any{"id": id, "scheduled_at": "2027-06-16T10:00:00Z"})
		series := c.draft(t, "Daily on the first", "2027-06-17T10:00:00Z")
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, series, "FREQ=DAILY;COUNT=9", nil))(t)
		b := c.as(t, access.Editor)
		june := b.open("/calendar?day=2027-06-01").wants(200, "On the first", "On the second", "Upcoming")
		one := june.form("Apply").fill("account", fmt.Sprint(second)).press().wants(200, "On the second").
			lacks("on the first", "On the first")
		one.follow("Next month").wants(200, "July 2027", "No posts match these filters here.").
			follow("Previous month").wants(200, "On the second").lacks("On the first")
		one.follow("Week").wants(200, "31 May – 6 Jun 2027").lacks("On the first")
		form := one.follow("Write a post for Friday 18 June").wants(200, "New post").form("Check")
		if form.values.Get("date") != "2027-06-18" || form.values.Get("account") != fmt.Sprint(second) {
			t.Errorf("the form begins with %v", form.values)
		}
		b.open("/calendar?day=2020-06-01").wants(200).lacks("/posts/new?date=")
		b.open("/calendar?account=x").wants(422, "Select one of the accounts.")
		c.as(t, access.Viewer).open("/calendar?day=2027-06-01").wants(200, "On the first").lacks("/posts/new")
	})
}
