package analytics_test

import (
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
)

// Pages of posts cover the whole period, even if several posts have the same time.
func TestPosts(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		account := w.connectHarbour()
		at := w.parse("2026-11-20T09:00:00+01:00")
		w.setMetrics(1000, post("d", at, 4), post("c", at, 3), post("b", at, 2), post("a", at.Add(-day), 1),
			post("old", at.Add(-8*day), 9))
		w.collectAfter(0, 1)
		since := analytics.Period{Days: 7, Until: at.In(w.zone)}.Start()
		var got []string
		after := analytics.PostPosition{At: at.Add(time.Hour)}
		for range 3 {
			found, err := w.service.Posts(t.Context(), w.teamOf(account), account, since, after, 2)
			w.must(err)
			for _, p := range found {
				got = append(got, p.ID)
				after = analytics.PostPosition{At: p.At, ID: p.ID}
				if p.Counts.Likes == nil || p.Counts.Saves != nil || p.Excerpt == "" {
					t.Errorf("%+v", p)
				}
			}
		}
		if want := []string{"d", "c", "b", "a"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if found, err := w.service.Posts(t.Context(), w.teamOf(account)+1, account, since,
			analytics.PostPosition{At: at.Add(time.Hour)}, 5); err != nil || len(found) != 0 {
			t.Errorf("another team has %v (%v)", found, err)
		}
	})
}

func (w *env) teamOf(account int64) int64 {
	w.t.Helper()
	return w.account(account).TeamID
}
