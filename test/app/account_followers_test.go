package app

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The follower gain of a period is the same in the tile, the chart and table of the overview, on the account's page
// and in both exports. This holds even without counts of today or the day before the period. If the counts begin in
// the period, the pages show the first date.
func TestFollowerGain(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		now := h.now().In(must.Get(time.LoadLocation(c.team.Timezone))(t))
		c.change(t, `INSERT INTO account_collections (account_id, due_at, collected_at, known_from) VALUES (?, ?, ?, ?)
			ON CONFLICT (account_id) DO UPDATE SET due_at = excluded.due_at, epoch = account_collections.epoch + 1`,
			c.account, now.Add(time.Hour).UnixMicro(), now.UnixMicro(), now.AddDate(-1, 0, 0).UnixMicro())
		c.change(t, `INSERT INTO account_days (account_id, day, followers, measured_at) VALUES (?, ?, 1, 1)
			ON CONFLICT (account_id, day) DO NOTHING`, c.account, now.AddDate(0, 0, -1).Format(time.DateOnly))
		c.change(t, `DELETE FROM account_days WHERE account_id = ?`, c.account) // the first collection may have stored a count
		// Today is missing, and so is the day before each period.
		for ago, followers := range map[int]int{1: 400, 2: 390, 5: 371, 8: 310, 20: 250, 29: 200} {
			day := now.AddDate(0, 0, -ago)
			c.change(t, `INSERT INTO account_days (account_id, day, followers, measured_at) VALUES (?, ?, ?, ?)`,
				c.account, day.Format(time.DateOnly), followers, day.UnixMicro())
		}
		day := func(ago int) string { return now.AddDate(0, 0, -ago).Format(time.DateOnly) }
		since := "since " + now.AddDate(0, 0, -29).Format("2 Jan")
		for _, period := range []struct {
			first, last     int // days ago
			followers, gain int
			of, ofAccount   string
		}{
			{6, 0, 400, 90, "in 7 days", "in this period"},
			{89, 0, 400, 200, since, since},
			{29, 1, 400, 200, since, since},
			{18, 5, 371, 121, "in 14 days", "in this period"},
			{7, 2, 390, 80, "in 6 days", "in this period"},
		} {
			days := url.Values{"from": {day(period.first)}, "to": {day(period.last)}}.Encode()
			overview := b.open("/analytics?"+days).shows(http.StatusOK, fmt.Sprintf("+%d %s", period.gain, period.of),
				fmt.Sprintf("%s on Bluesky %d +%d 0", c.handle(), period.followers, period.gain))
			account := b.open(fmt.Sprintf("/accounts/%d?%s&show=followers", c.account, days)).
				shows(http.StatusOK, fmt.Sprintf("+%d %s", period.gain, period.ofAccount))
			for _, p := range []*page{overview, account} {
				if got := lastGain(t, p); got != fmt.Sprint(period.gain) {
					t.Errorf("%s: the chart ends at %s, want %d", p.path, got, period.gain)
				}
			}
			overview.follow("Export").shows(http.StatusOK, fmt.Sprintf("%s,bluesky,%d,%d,", c.handle(), period.followers, period.gain))
			account.follow("Export").shows(http.StatusOK, fmt.Sprintf("followers_change,account,%d,", period.gain))
		}
		b.open("/analytics?days=7").shows(http.StatusOK, "+90 in 7 days")
		b.open("/analytics?days=90").shows(http.StatusOK, "+200 "+since).lacks("in 90 days")
	})
}

var chartRow = regexp.MustCompile(`<tr><th scope="row">[^<]*</th><td class="n">([^<]*)</td><td class="n">[^<]*</td></tr>`)

// lastGain returns the newest value of the chart's table.
func lastGain(t *testing.T, p *page) string {
	t.Helper()
	rows := chartRow.FindAllStringSubmatch(p.source, -1)
	if len(rows) == 0 {
		t.Fatalf("%s has no chart", p.path)
	}
	return rows[len(rows)-1][1]
}
