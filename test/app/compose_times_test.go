package app

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

var suggestedTimes = regexp.MustCompile(`value="at:([^"]+)"`)

// addEngagement stores a post of the account with likes, as if it had been collected.
func (c *crew) addEngagement(t *testing.T, at time.Time, likes int) {
	t.Helper()
	c.change(t, `INSERT INTO account_posts (account_id, network_id, posted_at, format, excerpt, url, likes, comments,
		shares, saves, collected_at) VALUES (?, ?, ?, 'text', '', '', ?, 0, 0, 0, 1)`,
		c.account, fmt.Sprint("p", at.Unix()), at.UnixMicro(), likes)
}

// The composer suggests the best times of the selected accounts that have no other post, and no best time without
// evidence.
func TestComposerBestTimes(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		b := c.as(t, access.Editor)
		path := "/posts/new?account=" + c.id()
		b.open(path).shows(200, "Next free times").lacks("Best time")
		now := h.now().In(must.Get(time.LoadLocation(c.team.Timezone))(t))
		best := time.Date(now.Year(), now.Month(), now.Day()-4, 18, 0, 0, 0, now.Location())
		for week := range 3 {
			c.addEngagement(t, best.AddDate(0, 0, -7*week).Add(5*time.Minute), 60)
			c.addEngagement(t, best.AddDate(0, 0, -7*week-1), 20)
			c.addEngagement(t, best.AddDate(0, 0, -7*week-2), 20)
		}
		next := best.AddDate(0, 0, 7)
		p := b.open(path).shows(200, "Best time of "+c.handle(), "3.0× a typical post · 3 posts")
		first := func(p *page) string {
			text := html.UnescapeString(suggestedTimes.FindStringSubmatch(p.source)[1])
			return must.Get(time.Parse(time.RFC3339, text))(t).UTC().String()
		}
		if got := first(p); got != next.UTC().String() {
			t.Errorf("best time %s, want %s", got, next)
		}
		f := p.form("Save draft").fill("caption", "Mine")
		f.values.Set("do", "at:"+next.Format(time.RFC3339))
		chosen := b.send(http.MethodPost, "/posts/new", f.values).shows(200).contains(`aria-pressed="true"`).form("Save draft").values
		in := next.In(berlin(t))
		if chosen.Get("date") != in.Format(time.DateOnly) || chosen.Get("time") != in.Format("15:04") || chosen.Get("caption") != "Mine" {
			t.Errorf("%v, want %s", chosen, in)
		}
		f.values.Set("do", "at:x")
		b.send(http.MethodPost, "/posts/new", f.values).shows(422, "The date or time is invalid.")

		c.draft(t, "Taken", next.Add(20*time.Minute).UTC().Format(time.RFC3339))
		times := b.open("/posts/times?"+url.Values{"account": {c.id()}}.Encode()).shows(200, "Best time of "+c.handle())
		if got, want := first(times), next.AddDate(0, 0, 7).UTC().String(); got != want {
			t.Errorf("best time %s although the hour has a post, want %s", got, want)
		}
		b.open("/posts/times").shows(200, "Next free times").lacks("Best time")
		other.as(t, access.Editor).open("/posts/times?" + url.Values{"account": {c.id()}}.Encode()).shows(200).lacks("Best time")
	})
}
