package analytics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/teamtime"
)

// parse parses a time in RFC 3339 format.
func (w *env) parse(text string) time.Time {
	w.t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	w.must(err)
	return at
}

// The analytics equal values computed by hand.
func TestAnalyticsValues(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		account := w.connectHarbour()
		w.setMetrics(1000)
		w.collectAfter(0, 1) // Saturday, 21 November, 13:00 in Berlin
		post := func(id, at, format string, reach, views, likes, comments, shares, saves *int64) network.CollectedPost {
			return network.CollectedPost{ID: id, URL: "https://www.example.com/p/" + id, Text: "text of " + id,
				Format: format, PostedAt: w.parse(at),
				Reach: reach, Views: views, Likes: likes, Comments: comments, Shares: shares, Saves: saves}
		}
		w.setMetrics(1040,
			post("c", "2026-11-24T09:00:00+01:00", "reel", new(int64(500)), new(int64(1000)), new(int64(40)),
				new(int64(5)), new(int64(3)), new(int64(2))),
			post("b", "2026-11-23T09:00:00+01:00", "image", new(int64(200)), new(int64(400)), new(int64(10)),
				new(int64(0)), nil, nil),
			post("a", "2026-11-19T09:00:00+01:00", "reel", nil, nil, new(int64(20)), nil, nil, nil),
			post("before", "2026-11-18T23:59:59+01:00", "text", new(int64(9000)), new(int64(9000)),
				new(int64(9000)), nil, nil, nil),
		)
		w.collectAfter(4*day, 2) // Wednesday, the 25th
		got := w.analytics(account, 7)
		at := func(text string) teamtime.Moment { return teamtime.At(w.parse(text), w.zone) }
		zoned := at("2026-11-25T12:00:00Z")
		since, change, clicks := at("2026-11-21T12:00:00Z"), int64(40), (*int64)(nil)
		want := analytics.AccountAnalytics{
			AccountID: account, Period: analytics.AccountAnalyticsPeriod{Days: 7, From: at("2026-11-19T00:00:00+01:00"), To: zoned},
			MeasuredAt: &zoned,
			Reach:      &analytics.AccountAnalyticsReach{Value: 700, Basis: "measured", Posts: 2},
			Views:      &analytics.AccountAnalyticsReach{Value: 1400, Basis: "measured", Posts: 2},
			Engagement: &analytics.AccountAnalyticsEngagement{
				Posts: 3, Likes: new(int64(70)), Comments: new(int64(5)), Shares: new(int64(3)), Saves: new(int64(2)),
				Clicks:          clicks,
				PerPost:         &analytics.AccountAnalyticsEngagementPerPost{Median: 20, Posts: 3}, // 50, 10 and 20
				RateByFollowers: &analytics.AccountAnalyticsEngagementPerPost{Median: 0.019231, Posts: 3},
				RateByViews:     &analytics.AccountAnalyticsEngagementPerPost{Median: (0.05 + 10.0/400) / 2, Posts: 2},
			},
			BestPost: &analytics.AccountAnalyticsBestPost{URL: "https://www.example.com/p/c",
				PostedAt: at("2026-11-24T09:00:00+01:00"), Format: "reel", Text: got.BestPost.Text,
				Counts: analytics.AccountAnalyticsBestPostCounts{Reach: new(int64(500)), Views: new(int64(1000)), Likes: new(int64(40)),
					Comments: new(int64(5)), Shares: new(int64(3)), Saves: new(int64(2))}},
			Cadence: &analytics.AccountAnalyticsCadence{Posts: 3, Days: 7, PostsPerWeek: 3, LongestGap: 3,
				ByWeekday: []analytics.AccountAnalyticsCadenceByWeekday{
					{Weekday: "monday", Posts: 1}, {Weekday: "tuesday", Posts: 1}, {Weekday: "wednesday"},
					{Weekday: "thursday", Posts: 1}, {Weekday: "friday"}, {Weekday: "saturday"}, {Weekday: "sunday"},
				}},
			Formats: []analytics.AccountAnalyticsFormat{
				{Format: "reel", Posts: 2, Engagement: &analytics.AccountAnalyticsEngagementPerPost{Median: 35, Posts: 2}},
				{Format: "image", Posts: 1, Engagement: &analytics.AccountAnalyticsEngagementPerPost{Median: 10, Posts: 1}},
			},
			Followers: &analytics.AccountAnalyticsFollowers{Now: 1040, MeasuredAt: zoned, Change: &change, Since: &since},
		}
		if diff := cmp.Diff(want, got.AccountAnalytics); diff != "" {
			w.t.Error(diff)
		}
		if len(got.notes) != 1 || !strings.Contains(got.notes[0], "been collected since") {
			w.t.Errorf("notes %q", got.notes)
		}
		if len(got.texts) != 1 || got.texts[0].Text != "text of c" || got.texts[0].Source.Kind != "caption" ||
			got.texts[0].ID != got.BestPost.Text.Untrusted || got.texts[0].Source.Account != "harbour" {
			w.t.Errorf("texts %+v", got.texts)
		}
	})
}

// The days of a period are days in the team's time zone, even if one has 25 hours.
func TestPeriodAcrossEndOfSummerTime(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		account := w.connectHarbour()
		w.setMetrics(1,
			post("inside", w.parse("2026-10-24T00:00:00+02:00"), 1),
			post("outside", w.parse("2026-10-23T23:59:59+02:00"), 1),
			post("repeated hour", w.parse("2026-10-25T02:30:00+01:00"), 1), // the second 02:30
		)
		w.collectAfter(0, 1)
		got := w.analytics(account, 29)
		if got.Cadence.Posts != 2 || got.Period.From.Team != "2026-10-24T00:00:00+02:00" ||
			got.Period.From.UTC != "2026-10-23T22:00:00Z" || got.Cadence.Days != 29 {
			w.t.Errorf("%+v, %+v", got.Period, got.Cadence)
		}
		if got := w.analytics(account, 30).Cadence; got.Posts != 3 || got.ByWeekday[4].Posts != 1 ||
			got.ByWeekday[5].Posts != 1 || got.ByWeekday[6].Posts != 1 {
			w.t.Errorf("%+v", got)
		}
	})
}

func TestAnalyticsRejected(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		account := w.connectHarbour()
		foreign := w.connect(w.newTeam("bo@example.com"), "instagram", "theirs")
		for _, id := range []int64{foreign, 999_999} {
			if _, err := w.tryAnalytics(id, 30); !apierr.Is(err, apierr.NotFound) {
				w.t.Errorf("account %d: %v", id, err)
			}
		}
		w.plan = "without"
		_, err := w.tryAnalytics(account, 30)
		if rejected := apierr.FromError(err); rejected.Code != apierr.PlanLimitReached ||
			rejected.Context["limit"] != "analytics_retention_days" {
			w.t.Errorf("plan without analytics: %v", err)
		}
	})
}

// The notes say why analytics are empty or partial.
func TestNotes(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		const since = "collected since the account was connected on Sat 21 Nov 2026, 13:00"
		checkNotes := func(when string, days int, notes ...string) {
			w.t.Helper()
			got := w.analytics(id, days)
			if len(got.notes) != len(notes) {
				w.t.Errorf("%s: notes %q", when, got.notes)
				return
			}
			for i, note := range notes {
				if !strings.Contains(got.notes[i], note) {
					w.t.Errorf("%s: note %q, want %q in it", when, got.notes[i], note)
				}
			}
		}
		checkNotes("never collected", 30, "has been collected yet")
		if got := w.analytics(id, 30); got.Cadence != nil || got.Engagement != nil || got.MeasuredAt != nil ||
			got.Formats == nil {
			w.t.Errorf("never collected: %+v", got)
		}
		w.setMetrics(5)
		w.collectAfter(0, 1)
		checkNotes("no posts", 30, since, "There are no posts")
		w.setMetrics(5, post("1", w.clock.Now(), 1))
		w.collectAfter(runInterval, 2)
		checkNotes("no reach", 30, since, "requires an app that is approved for insights")
		checkNotes("long period", 365, "available since Sun 23 Aug 2026", since, "does not report the reach")
		w.plan = "free"
		checkNotes("plan with 30 days", 365, "includes metrics for 30 days", since, "does not report the reach")
		w.plan = "agency"
		w.must(w.accounts.MarkLost(w.t.Context(), id, account.AnyGrant))
		checkNotes("disconnected account", 30, "is disconnected", since, "does not report the reach")
		w.collectAfter(31*24*time.Hour, 2)
		checkNotes("connected before the period", 30, "is disconnected", "There are no posts")
		id = w.connect(w.team, "threads", "quiet")
		w.collectAfter(0, 2)
		checkNotes("network without metrics", 30, "does not collect metrics from threads")
	})
}

// The note about a missing permission differs from the note about a failing network.
func TestAppNotApproved(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		const reason = "app must be approved"
		checkNotes := func(when string, number int, want bool) {
			w.t.Helper()
			got := w.analytics(id, 30)
			if len(got.notes) != number || strings.Contains(got.notes[0], reason) != want {
				w.t.Errorf("%s: notes %q", when, got.notes)
			}
		}
		w.setError(network.AppNotApproved, time.Time{})
		w.collectAfter(0, 1)
		checkNotes("never approved", 1, true)
		w.setError(network.Transient, time.Time{})
		w.collectAfter(3*time.Minute, 2)
		checkNotes("transient failure", 1, false)
		w.setMetrics(5)
		w.collectAfter(time.Hour, 3)
		checkNotes("success", 2, false)
		w.setError(network.AppNotApproved, time.Time{})
		w.collectAfter(runInterval, 4)
		checkNotes("no longer approved", 3, true)
		w.must(w.accounts.MarkLost(w.t.Context(), id, account.AnyGrant))
		checkNotes("disconnected", 3, false)
		w.connectHarbour()
		checkNotes("reconnected", 2, false)
	})
}

// Posts older than the plan keeps are not analyzed, even if they are not yet deleted.
func TestAnalyticsRespectRetention(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		account := w.connectHarbour()
		w.setMetrics(1, post("new", start.Add(-10*day), 1), post("old", start.Add(-40*day), 1))
		w.collectAfter(0, 1)
		if got := w.analytics(account, 90); got.Cadence.Posts != 2 {
			w.t.Errorf("%+v", got.Cadence)
		}
		w.plan = "free"
		if got := w.analytics(account, 90); got.Cadence.Posts != 1 || got.Cadence.Days != 30 {
			w.t.Errorf("%+v", got.Cadence)
		}
	})
}

// Posts with only view counts have a best post but no engagement.
func TestOnlyViews(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		account := w.connectHarbour()
		w.setMetrics(1, network.CollectedPost{ID: "1", PostedAt: start.Add(-day), Views: new(int64(7)), Format: "video"},
			network.CollectedPost{ID: "2", PostedAt: start.Add(-2 * day), Views: new(int64(9))})
		w.collectAfter(0, 1)
		got := w.analytics(account, 30)
		if got.Engagement != nil || got.BestPost == nil || got.BestPost.Format != "unknown" ||
			got.BestPost.Text != nil || got.Views.Value != 16 || got.Reach != nil {
			w.t.Errorf("%+v", got)
		}
	})
}
