package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A single occurrence of a series can be skipped. The series can be paused from the page of any occurrence.
func TestSkipOccurrence(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		now := c.now()
		id := c.draft(t, "Every day", now.Add(24*time.Hour).UTC().Format(time.RFC3339))
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, id, "FREQ=DAILY", nil))(t)
		b := c.as(t, access.Editor)
		next := func(days int) string {
			return now.AddDate(0, 0, days).In(berlin(t)).Format("Mon 2 Jan 2006, 15:04")
		}
		first := b.open("/posts/"+id).follow(next(1)).shows(200, "Skip this one", "Pause the series").lacks("Unschedule")
		b.send(http.MethodPost, "/posts/"+id+"/skip", url.Values{}).shows(422, "nothing to skip")
		first.form("Skip this one").press().
			shows(200,
				"Skipped. This post is now a draft, and the series continues with the next one. It was scheduled for "+next(1)+
					".", "Every day Draft").lacks("Schedule for", "Planned for", "Skip this one")
		must.NoError(t, c.Posts.CreateOccurrences(t.Context()))
		second := b.open("/posts/"+id).lacks(next(1)).follow(next(2)).shows(200, "Scheduled for")
		second.form("Pause the series").press().
			shows(200, "The series was paused", "If resumed now, the series would publish:", next(2), next(3))
		b.open(second.path).shows(200, "Planned for").lacks("Skip this one")
		b.open("/posts/"+id).form("Resume the series").press().shows(200, "The series was resumed.", next(2)).lacks(next(1))
		b.open(first.path).shows(200, "Every day Draft")
	})
}

func TestPauseAndEndSeries(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "Every week", c.apiTime(24*time.Hour))
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, id, "FREQ=WEEKLY;INTERVAL=2;COUNT=20", nil))(t)
		b := c.as(t, access.Editor)
		p := b.open("/posts/"+id).shows(200, "This post is the template of a series", "Every 2 weeks, 20 times, in Europe/Berlin.", "Next:")
		p.lacks("Publish now", "/edit\"")
		day := c.now().Add(24 * time.Hour).In(berlin(t))
		occurrence := p.follow(day.Format("Mon 2 Jan 2006, 15:04")).
			shows(200, "Scheduled for", "Template of the series")
		month := b.open("/calendar?day="+day.AddDate(0, 0, 14).Format(time.DateOnly)).shows(200, "Every week")
		if n := strings.Count(month.text(), "Upcoming · series"); n == 0 {
			t.Errorf("the calendar shows no upcoming posts: %s", month.text())
		}
		paused := p.form("Pause the series").press().
			shows(200, "The series was paused: nothing is published", "Paused.",
				"If resumed now, the series would publish:", "Drafts updated from the template: 1.").
			lacks("Unscheduled", "No further posts are planned")
		b.open(occurrence.path).shows(200, "Planned for")
		paused.follow(day.Format("Mon 2 Jan 2006, 15:04")).shows(200, "Planned for")
		paused.follow("Edit").form("Save").fill("caption", "Every week anew").press().shows(200, "Saved. The series is paused")
		b.open("/posts/"+id).form("Resume the series").press().
			shows(200, "The series was resumed. Drafts updated from the template: 1.", "Next:").lacks("keep their own")
		b.open(occurrence.path).shows(200, "Scheduled for", "Every week anew").follow("Edit").form("Save").
			fill("caption", "By hand").press().shows(200, "It will be published at its scheduled time.")
		b.open("/posts/"+id).form("Pause the series").press().shows(200, "edited", "Drafts that keep their own changes: 1.")
		b.open("/posts/"+id+"/edit").form("Save and resume").press().
			shows(200, "The series was resumed, next on "+day.Format("Mon 2 Jan 2006, 15:04"), "Drafts that keep their own changes: 1.")
		b.open(occurrence.path).shows(200, "Scheduled for", "By hand")
		b.open("/posts/"+id).follow("End the series…").shows(200, "This permanently ends the series", "stays as a draft").
			form("End the series").press().shows(200, "The series has ended.", "Publish now…")
		b.open("/posts/"+id+"/series/end").shows(200, "Publish now…")
		b.send(http.MethodPost, "/posts/"+id+"/series/resume", url.Values{}).shows(422, "This post does not repeat.")
	})
}

// The page of a series with a disconnected account explains why the series stopped and links to the solution.
func TestSeriesWithoutAccount(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		id := c.draft(t, "Every week", c.apiTime(24*time.Hour))
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, id, "FREQ=WEEKLY", nil))(t)
		b := c.as(t, access.Editor)
		goOn := b.open("/posts/" + id).form("Pause the series").press().shows(200).form("Resume the series")
		c.change(t, `UPDATE social_accounts SET connection_state = 'lost' WHERE id = ?`, c.account)
		for _, p := range []*page{b.open("/posts/"+id).shows(200, "Network checks"), goOn.press().
			shows(422, "The post cannot be published.")} {
			p.shows(p.status, "The series cannot resume", "The account is disconnected.", "reconnect it")
			p.contains(`href="/accounts"`, `href="/posts/`+id+`/edit"`).lacks("account_inactive", "Resume the series")
		}
	})
}

func TestCalendarTimeZone(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		next := h.now().In(berlin(t)).AddDate(0, 0, 7)
		b.open("/calendar").shows(200, "No posts", next.Format("Jan")).lacks("/posts/new")
		for i, at := range []string{
			"2027-03-27T23:30:00Z", "2027-03-28T00:30:00Z", "2027-03-28T22:30:00Z", "2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z",
		} {
			c.draft(t, fmt.Sprint("Wish ", i), at)
		}
		march := b.open("/calendar?day=2027-03-05").
			shows(200, "March 2027", "Clocks go forward", "00:30 CET Wish 0", "01:30 CET Wish 1", "00:30 Wish 2")
		march.follow("Next month").shows(200, "April 2027", "00:30 Wish 2").lacks("Wish 3")
		march.follow("Previous month").shows(200, "February 2027")
		b.open("/calendar?day=2027-10-01").shows(200, "Clocks go back", "02:30 CEST Wish 3", "02:30 CET Wish 4")
		week := b.open("/calendar?view=week&day=2027-03-28").shows(200, "22 – 28 March 2027", "Wish 0", "Wish 1").lacks("Wish 2")
		week.follow("Next week").shows(200, "29 Mar – 4 Apr 2027", "Wish 2").lacks("Wish 1")
		week.follow("Month").shows(200, "March 2027")
		march.form("Apply").fill("day", "2027-10-02").press().shows(200, "October 2027")
		b.open("/calendar?day=someday").shows(422, "Enter a date from the year 2000 on")
		b.open("/calendar?day=9999-12-31").shows(422, "Enter a date from the year 2000 on")
		for i := range 6 {
			c.draft(t, fmt.Sprint("Crowd ", i), "2027-06-15T10:00:00Z")
		}
		june := b.open("/calendar?day=2027-06-01").shows(200, "Crowd 0", "Crowd 2").lacks("Crowd 3")
		june.follow("More posts of Tuesday 15 June").shows(200, "Tuesday 15 June 2027", "Crowd 5", "Crowd 0")
		b.open("/calendar?view=week&day=2027-06-15").shows(200, "Crowd 5")
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

// The calendar filters by account. Links from future days to the composer keep the filter.
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
		june := b.open("/calendar?day=2027-06-01").shows(200, "On the first", "On the second", "Upcoming")
		one := june.form("Apply").fill("account", fmt.Sprint(second)).press().shows(200, "On the second").
			lacks("on the first", "On the first")
		one.follow("Next month").shows(200, "July 2027", "No posts here match these filters.").
			follow("Previous month").shows(200, "On the second").lacks("On the first")
		one.follow("Week").shows(200, "31 May – 6 Jun 2027").lacks("On the first")
		form := one.follow("Write a post for Friday 18 June").shows(200, "New post").form("Check")
		if form.values.Get("date") != "2027-06-18" || form.values.Get("account") != fmt.Sprint(second) {
			t.Errorf("initial form values = %v", form.values)
		}
		b.open("/calendar?day=2020-06-01").shows(200).lacks("/posts/new?date=")
		b.open("/calendar?account=x").shows(422, "Select one of the accounts.")
		c.as(t, access.Viewer).open("/calendar?day=2027-06-01").shows(200, "On the first").lacks("/posts/new")
	})
}
