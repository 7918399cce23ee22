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

// parse reads a time of a test.
func (w *env) parse(text string) time.Time {
	w.t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	w.must(err)
	return at
}

// The result equals values computed by hand.
func TestArithmetic(t *testing.T) {
	each(t, func(w *env) {
		account := w.harbour()
		w.tell(1000)
		w.after(0, 1) // Saturday, 21 November, 13:00 in Berlin
		figures := func(id, at, format string, reach, views, likes, comments, shares, saves *int64) network.CollectedPost {
			return network.CollectedPost{ID: id, URL: "https://www.example.com/p/" + id, Text: "text of " + id,
				Format: format, PostedAt: w.parse(at),
				Reach: reach, Views: views, Likes: likes, Comments: comments, Shares: shares, Saves: saves}
		}
		w.tell(1040,
			figures("c", "2026-11-24T09:00:00+01:00", "reel", new(int64(500)), new(int64(1000)), new(int64(40)),
				new(int64(5)), new(int64(3)), new(int64(2))),
			figures("b", "2026-11-23T09:00:00+01:00", "image", new(int64(200)), new(int64(400)), new(int64(10)),
				new(int64(0)), nil, nil),
			figures("a", "2026-11-19T09:00:00+01:00", "reel", nil, nil, new(int64(20)), nil, nil, nil),
			figures("before", "2026-11-18T23:59:59+01:00", "text", new(int64(9000)), new(int64(9000)),
				new(int64(9000)), nil, nil, nil),
		)
		w.after(4*day, 2) // Wednesday, the 25th
		got := w.read(account, 7)
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
				PerPost:         &analytics.AccountAnalyticsEngagementPerPost{Median: 20, Posts: 3},       // 50, 10 and 20
				RateByFollowers: &analytics.AccountAnalyticsEngagementPerPost{Median: 0.019231, Posts: 3}, //
				// among those with views
				RateByViews: &analytics.AccountAnalyticsEngagementPerPost{Median: (0.05 + 10.0/400) / 2, Posts: 2},
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

// A period's days are in the team's time zone: across the end of summer time it is an hour longer.
func TestPeriodAcrossSummerTime(t *testing.T) {
	each(t, func(w *env) {
		account := w.harbour()
		w.tell(1,
			post("in", w.parse("2026-10-24T00:00:00+02:00"), 1),
			post("out", w.parse("2026-10-23T23:59:59+02:00"), 1),
			post("again", w.parse("2026-10-25T02:30:00+01:00"), 1), // the second 02:30
		)
		w.after(0, 1)
		got := w.read(account, 29)
		if got.Cadence.Posts != 2 || got.Period.From.Team != "2026-10-24T00:00:00+02:00" ||
			got.Period.From.UTC != "2026-10-23T22:00:00Z" || got.Cadence.Days != 29 {
			w.t.Errorf("%+v, %+v", got.Period, got.Cadence)
		}
		if got := w.read(account, 30).Cadence; got.Posts != 3 || got.ByWeekday[4].Posts != 1 ||
			got.ByWeekday[5].Posts != 1 || got.ByWeekday[6].Posts != 1 {
			w.t.Errorf("%+v", got)
		}
	})
}

func TestRefusals(t *testing.T) {
	each(t, func(w *env) {
		account := w.harbour()
		foreign := w.connect(w.newTeam("bo@example.com"), "instagram", "theirs")
		for _, id := range []int64{foreign, 999_999} {
			if _, err := w.ask(id, 30); !apierr.Is(err, apierr.NotFound) {
				w.t.Errorf("account %d: %v", id, err)
			}
		}
		w.plan = "without"
		_, err := w.ask(account, 30)
		if refused := apierr.FromError(err); refused.Code != apierr.PlanLimitReached ||
			refused.Context["limit"] != "analytics_retention_days" {
			w.t.Errorf("a plan without: %v", err)
		}
	})
}

// An empty or partial answer has a note with the reason.
func TestNotes(t *testing.T) {
	each(t, func(w *env) {
		id := w.harbour()
		const since = "collected since it was connected on Sat 21 Nov 2026, 13:00"
		says := func(when string, days int, notes ...string) {
			w.t.Helper()
			got := w.read(id, days)
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
		says("never collected", 30, "has been collected yet")
		if got := w.read(id, 30); got.Cadence != nil || got.Engagement != nil || got.MeasuredAt != nil ||
			got.Formats == nil {
			w.t.Errorf("never collected: %+v", got)
		}
		w.tell(5)
		w.after(0, 1)
		says("nothing posted", 30, since, "There are no posts")
		w.tell(5, post("1", w.clock.Now(), 1))
		w.after(turn, 2)
		says("no reach", 30, since, "requires an app approved for insights")
		says("a long period", 365, "known since Sun 23 Aug 2026", since, "does not report the reach")
		w.plan = "free"
		says("a plan of 30 days", 365, "keeps figures for 30 days", since, "does not report the reach")
		w.plan = "agency"
		w.must(w.accounts.MarkLost(w.t.Context(), id, account.AnyGrant))
		says("a lost connection", 30, "is disconnected", since, "does not report the reach")
		w.after(31*24*time.Hour, 2)
		says("connected before the period", 30, "is disconnected", "There are no posts")
		id = w.connect(w.team, "threads", "quiet")
		w.after(0, 2)
		says("a network that tells nothing", 30, "collects no figures from threads")
	})
}

// An app without permission to read posts is reported differently from a failing network, until it has the permission.
func TestAppNotApproved(t *testing.T) {
	each(t, func(w *env) {
		id := w.harbour()
		const why = "app must be approved"
		says := func(when string, number int, want bool) {
			w.t.Helper()
			got := w.read(id, 30)
			if len(got.notes) != number || strings.Contains(got.notes[0], why) != want {
				w.t.Errorf("%s: notes %q", when, got.notes)
			}
		}
		w.refuse(network.Unapproved, time.Time{})
		w.after(0, 1)
		says("never approved", 1, true)
		w.refuse(network.Transient, time.Time{})
		w.after(3*time.Minute, 2)
		says("it failed since", 1, false)
		w.tell(5)
		w.after(time.Hour, 3)
		says("it works", 2, false)
		w.refuse(network.Unapproved, time.Time{})
		w.after(turn, 4)
		says("not approved any more", 3, true)
		w.must(w.accounts.MarkLost(w.t.Context(), id, account.AnyGrant))
		says("the connection is lost", 3, false)
		w.harbour()
		says("connected again", 2, false)
	})
}

// Expired data is not returned, even if it is not yet deleted.
func TestRetentionInAnswers(t *testing.T) {
	each(t, func(w *env) {
		account := w.harbour()
		w.tell(1, post("new", start.Add(-10*day), 1), post("old", start.Add(-40*day), 1))
		w.after(0, 1)
		if got := w.read(account, 90); got.Cadence.Posts != 2 {
			w.t.Errorf("%+v", got.Cadence)
		}
		w.plan = "free"
		if got := w.read(account, 90); got.Cadence.Posts != 1 || got.Cadence.Days != 30 {
			w.t.Errorf("%+v", got.Cadence)
		}
	})
}

// A network that only returns view counts has a best post but no engagement.
func TestOnlyViews(t *testing.T) {
	each(t, func(w *env) {
		account := w.harbour()
		w.tell(1, network.CollectedPost{ID: "1", PostedAt: start.Add(-day), Views: new(int64(7)), Format: "video"},
			network.CollectedPost{ID: "2", PostedAt: start.Add(-2 * day), Views: new(int64(9))})
		w.after(0, 1)
		got := w.read(account, 30)
		if got.Engagement != nil || got.BestPost == nil || got.BestPost.Format != "unknown" ||
			got.BestPost.Text != nil || got.Views.Value != 16 || got.Reach != nil {
			w.t.Errorf("%+v", got)
		}
	})
}
