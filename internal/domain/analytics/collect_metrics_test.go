package analytics_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/network"
)

// Every run deletes metrics older than the plan keeps, including metrics of disconnected accounts.
func TestRetentionPeriod(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		var posts []network.CollectedPost
		for n := range 80 {
			posts = append(posts, post(fmt.Sprint(n), start.Add(-time.Duration(n)*day), int64(n)))
		}
		w.setMetrics(9, posts...)
		w.collectAfter(0, 1)
		if n := w.count("account_posts"); n != 80 {
			w.t.Fatalf("%d posts", n)
		}
		w.exec(`UPDATE teams SET plan = 'free'`) // keeps 30 days
		w.collectAfter(runInterval, 2)
		if n := w.count("account_posts"); n != 30 {
			w.t.Errorf("%d posts with a retention of 30 days", n)
		}
		w.must(w.accounts.MarkLost(w.t.Context(), id, account.AnyGrant))
		w.collectAfter(10*day, 2)
		if n := w.count("account_posts"); n != 20 {
			w.t.Errorf("%d posts after 10 days more", n)
		}
		w.collectAfter(40*day, 2)
		if posts, days := w.count("account_posts"), w.count("account_days"); posts != 0 || days != 0 {
			w.t.Errorf("%d posts and %d days after 50 days more", posts, days)
		}
	})
}

// A plan without analytics deletes all metrics. A later plan with analytics starts with the longest period.
func TestPlanWithoutAnalytics(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		w.connectHarbour()
		w.setMetrics(1, post("1", start.Add(-time.Hour), 1))
		w.collectAfter(0, 1)
		w.exec(`UPDATE teams SET plan = 'unknown'`)
		w.collectAfter(runInterval, 1)
		if n := w.count("account_posts") + w.count("account_days"); n != 0 {
			w.t.Errorf("%d rows are kept", n)
		}
		w.exec(`UPDATE teams SET plan = 'agency'`)
		w.collectAfter(runInterval, 2)
		if got := w.net.calls()[1].since; !got.Equal(w.clock.Now().Add(-90 * day)) {
			w.t.Errorf("since %s", got)
		}
	})
}

func TestClosedTeam(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		w.connectHarbour()
		w.exec(`UPDATE teams SET closed_at = 1`)
		w.collectAfter(0, 0)
		w.collectAfter(runInterval, 0)
	})
}

// A new metric replaces the old metric. A missing metric keeps it.
func TestUpdateMetrics(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		first := post("1", start.Add(-time.Hour), 1)
		first.Reach, first.Views = new(int64(100)), new(int64(-1))
		w.setMetrics(1, first)
		w.collectAfter(0, 1)
		second := post("1", first.PostedAt, 2)
		second.Views = new(int64(50))
		w.setMetrics(2, second)
		w.collectAfter(runInterval, 2)
		got := w.analytics(id, 7)
		want := analytics.AccountAnalyticsBestPostCounts{Reach: new(int64(100)), Views: new(int64(50)), Likes: new(int64(2))}
		if diff := cmp.Diff(want, got.BestPost.Counts); diff != "" || w.count("account_posts") != 1 {
			w.t.Error(diff)
		}
	})
}

// A post that is missing from two consecutive lists of the network was deleted there. A single list may lack it for
// other reasons.
func TestPostsDeletedOnNetwork(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		w.connectHarbour()
		kept, removed := post("1", start.Add(-time.Hour), 1), post("2", start.Add(-2*time.Hour), 1)
		old := post("3", start.Add(-40*day), 1) // older than the period of the second run
		w.setMetrics(1, kept, removed, old)
		w.collectAfter(0, 1)
		w.setMetrics(1, kept)
		w.collectAfter(runInterval, 2)
		if n := w.count("account_posts"); n != 3 {
			w.t.Errorf("%d posts after the first list without post 2", n)
		}
		w.collectAfter(runInterval, 3)
		if n := w.count("account_posts"); n != 2 {
			w.t.Errorf("%d posts after the second list without post 2", n)
		}
	})
}

// If an account has more posts than a run reads, its posts are known since the oldest post that was read.
func TestMorePostsThanTurnAllows(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		var posts []network.CollectedPost
		for n := range 500 {
			posts = append(posts, post(fmt.Sprint(n), start.Add(-time.Duration(n)*time.Hour), 1))
		}
		w.setMetrics(1, posts...)
		w.collectAfter(0, 1)
		got := w.analytics(id, 90)
		if got.Cadence.Posts != 500 || got.Cadence.Days != 22 || !strings.Contains(strings.Join(got.notes, " "),
			"available since Sat 31 Oct 2026") {
			w.t.Errorf("%+v, %q", got.Cadence, got.notes)
		}
	})
}

// Implausible values from a network are dropped or shortened.
func TestImplausibleValues(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		implausible := post("1", start.Add(-time.Hour), 1)
		implausible.Format, implausible.URL, implausible.Text = "hologram", "javascript:alert(1)", strings.Repeat("é", 1000)
		w.setMetrics(-5, implausible, post("", start, 1), post("2", time.Time{}, 1), post("3", start.Add(1000*day), 1),
			post(strings.Repeat("x", 400), start, 1))
		w.collectAfter(0, 1)
		got := w.analytics(id, 7)
		if w.count("account_posts") != 1 || got.Followers != nil || got.BestPost.Format != "unknown" ||
			got.BestPost.URL != "" || got.texts[0].Text != strings.Repeat("é", 300) {
			w.t.Errorf("%+v", got)
		}
	})
}
