package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// addFigures stores one post and one follower count for each of the last days, as if they had been collected.
func (c *crew) addFigures(t *testing.T, now time.Time, days int) {
	t.Helper()
	c.change(t, `INSERT INTO account_collections (account_id, due_at, collected_at, known_from) VALUES (?, ?, ?, ?)
		ON CONFLICT (account_id) DO UPDATE SET due_at = excluded.due_at, collected_at = excluded.collected_at,
		known_from = excluded.known_from, epoch = account_collections.epoch + 1`,
		c.account, now.Add(time.Hour).UnixMicro(), now.UnixMicro(), now.AddDate(-1, 0, 0).UnixMicro())
	for ago := range days {
		at := time.Date(now.Year(), now.Month(), now.Day()-ago, 0, 0, 0, 0, now.Location())
		c.change(t, `INSERT INTO account_posts (account_id, network_id, posted_at, format, excerpt, url,
					likes, comments, collected_at)
			VALUES (?, ?, ?, 'text', ?, '', ?, ?, 1)`,
			c.account, fmt.Sprint("p", ago), at.UnixMicro(), fmt.Sprintf("Post %d.", ago), 10+ago, 50-ago)
		c.change(t, `INSERT INTO account_days (account_id, day, followers, measured_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (account_id, day) DO UPDATE SET followers = excluded.followers`,
			c.account, at.Format(time.DateOnly), 500-ago, at.UnixMicro())
	}
}

// Analytics show any period, compared with the preceding period of equal length. Links, the export and the other
// settings keep it.
func TestAnalyticsRange(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		now := h.now().In(must.Get(time.LoadLocation(c.team.Timezone))(t))
		c.addFigures(t, now, 12)
		day := func(ago int) string { return now.AddDate(0, 0, -ago).Format(time.DateOnly) }
		days := url.Values{"from": {day(5)}, "to": {day(3)}}.Encode()
		overview := b.open("/analytics?"+days).shows(http.StatusOK, "compared with the previous 3 days",
			c.handle()+" on Bluesky 497 +3 3 180", "+3 in 3 days", "previously 180", "Post 4.").lacks("Post 2.", "Post 6.")
		overview.follow("Engagement").shows(http.StatusOK, "Engagement by publish date", c.handle()+" on Bluesky 497 +3 3 180")
		file := overview.follow("Export").shows(http.StatusOK, c.handle()+",bluesky,497,3,3,,180,3,,180")
		if name := file.header.Get("Content-Disposition"); !strings.Contains(name, day(5)+"-"+day(3)) {
			t.Error(name)
		}
		path := fmt.Sprintf("/accounts/%d?", c.account)
		page := b.open(path+days).shows(http.StatusOK, "+3 in this period", "180", "Post 3.", "Post 5.").lacks("Post 2.", "Post 6.")
		page.follow("Export").shows(http.StatusOK, "likes,account,42,,,3", "followers_change,account,3,")
		page.follow("Likes").shows(http.StatusOK, "Post 5.").follow("Engagement").shows(http.StatusOK, "Post 5.").lacks("Post 6.").
			follow("30 days").shows(http.StatusOK, "Post 11.")
		page.form("Apply").fill("from", day(1)).fill("to", day(0)).press().shows(http.StatusOK, "Post 0.", "Post 1.").lacks("Post 2.")
		for wrong, says := range map[string]string{
			url.Values{"from": {day(1)}, "to": {day(2)}}.Encode():   "The last day is before the first.",
			url.Values{"from": {day(1)}, "to": {day(-1)}}.Encode():  "The last day is in the future.",
			url.Values{"from": {day(400)}, "to": {day(1)}}.Encode(): "Choose at most 366 days.",
			"from=" + day(1): "Choose both days.", "from=yesterday&to=" + day(0): "Choose both days.",
		} {
			b.open("/analytics?"+wrong).shows(http.StatusOK, says, "The last 30 days")
			b.open(path+wrong).shows(http.StatusOK, says, "Post 0.")
		}
	})
}

// The posts of an account can be sorted by a figure, on all pages of the list.
func TestAccountPostsSorted(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		c.addFigures(t, h.now().In(must.Get(time.LoadLocation(c.team.Timezone))(t)), 24)
		page := b.open(fmt.Sprintf("/accounts/%d", c.account)).shows(http.StatusOK, "Newest first")
		likes := page.follow("Likes")
		likes.contains(`aria-sort="descending"`)
		table := likes.table()
		if first, second := strings.Index(table, "Post 23."), strings.Index(table, "Post 22."); first < 0 || first > second {
			t.Errorf("by likes: %s", likes.table())
		}
		likes.lacks("Post 1.").follow("Next page").shows(http.StatusOK, "Post 1.", "Post 0.").lacks("Post 9.").
			follow("First page").shows(http.StatusOK, "Post 23.")
		if comments := likes.follow("Comments").table(); strings.Index(comments, "Post 0.") > strings.Index(comments, "Post 1.") {
			t.Errorf("by comments: %s", comments)
		}
		likes.follow("Newest first").shows(http.StatusOK, "Post 1.").lacks("Post 22.")
		// All posts except one have the same engagement. Posts with equal engagement are sorted newest first.
		c.change(t, `UPDATE account_posts SET shares = 1 WHERE account_id = ? AND network_id = 'p20'`, c.account)
		byEngagement := b.open(fmt.Sprintf("/accounts/%d?sort=engagement", c.account))
		byEngagement.contains(`<th scope="col" class="n" aria-sort="descending">`)
		table = byEngagement.table()
		if most, newest := strings.Index(table, "Post 20."), strings.Index(table, "Post 0."); most < 0 || most > newest {
			t.Errorf("by engagement: %s", table)
		}
	})
}

// table returns the page's text from its list of posts.
func (p *page) table() string {
	_, table, _ := strings.Cut(p.source, `id="posts"`)
	return table
}

// The hours of the week are compared in the period, or in the 90 days until its end if the period is shorter.
func TestHeatMapPeriod(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		now := h.now().In(must.Get(time.LoadLocation(c.team.Timezone))(t))
		c.addFigures(t, now, 1)
		for week := range 30 {
			day := now.AddDate(0, 0, -3-7*week)
			for hour := range 6 {
				at := time.Date(day.Year(), day.Month(), day.Day(), 8+hour, 0, 0, 0, now.Location())
				c.change(t, `INSERT INTO account_posts (account_id, network_id, posted_at, format, excerpt, url, likes, comments,
					collected_at)
					VALUES (?, ?, ?, 'text', '', '', ?, 1, 1)`, c.account, fmt.Sprint("h", week, hour), at.UnixMicro(), 10+hour)
			}
		}
		const extended = "Always at least 90 days"
		b.open("/analytics").shows(http.StatusOK, "Last 90 days", extended, "Based on 78 posts")
		b.open("/analytics?days=90").shows(http.StatusOK, "Last 90 days", "Based on 78 posts").lacks(extended)
		b.open("/analytics?days=365").shows(http.StatusOK, "Last 365 days", "Based on 180 posts").lacks(extended)
		day := func(ago int) string { return now.AddDate(0, 0, -ago).Format(time.DateOnly) }
		b.open("/analytics?"+url.Values{"from": {day(180)}, "to": {day(150)}}.Encode()).
			shows(http.StatusOK, extended, "Based on 54 posts").lacks("Last 90 days")
		b.open("/analytics?"+url.Values{"from": {day(180)}, "to": {day(10)}}.Encode()).
			shows(http.StatusOK, "Based on 150 posts").lacks(extended)
	})
}
