package analytics_test

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Periods may end on any day. They have whole days of their zone, also on the day on which its clocks change.
func TestPeriodOf(t *testing.T) {
	zone := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	day := func(d int) time.Time { return time.Date(2026, 10, d, 0, 0, 0, 0, time.UTC) }
	p := analytics.PeriodOf(day(24), day(25), zone)
	for _, c := range []struct {
		got  time.Time
		want string
	}{
		{p.Start(), "2026-10-24T00:00:00+02:00"}, {p.Past(), "2026-10-22T00:00:00+02:00"}, {p.End(), "2026-10-26T00:00:00+01:00"},
		{p.Until.Truncate(time.Second), "2026-10-25T23:59:59+01:00"},
	} {
		if got := c.got.Format(time.RFC3339); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if p.Days != 2 {
		t.Errorf("%d days", p.Days)
	}
}

// Figures of a period in the past omit posts and measurements after the period.
func TestPastPeriod(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		w.setMetrics(100, post("early", start.Add(-2*day), 5), post("before", start.Add(-3*day), 2))
		w.collectAfter(0, 1)
		w.setMetrics(112, post("early", start.Add(-2*day), 5), post("late", start.Add(6*day), 3))
		w.collectAfter(7*day, 2)
		date := func(days int) time.Time {
			at := start.In(w.zone).AddDate(0, 0, days)
			return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		}
		in := analytics.PeriodOf(date(-2), date(0), w.zone)
		all := must.Get(w.service.ComparePeriods(t.Context(), w.team, in))(t)
		if len(all) != 1 || countOrMinusOne(all[0].Followers) != 100 || all[0].Now.Posts != 1 || all[0].Past.Posts != 1 {
			t.Errorf("compared: %+v", all)
		}
		for metric, want := range map[string]string{"likes": "early", "views": "early"} {
			found := must.Get(w.service.PostsByMetric(t.Context(), w.team, id, in, metric, 0, 5))(t)
			if len(found) != 1 || found[0].ID != want {
				t.Errorf("by %s: %+v", metric, found)
			}
		}
		long := analytics.PeriodOf(date(-3), date(7), w.zone)
		found := must.Get(w.service.PostsByMetric(t.Context(), w.team, id, long, "likes", 1, 1))(t)
		if len(found) != 1 || found[0].ID != "late" {
			t.Errorf("second by likes: %+v", found)
		}
		if _, err := w.service.PostsByMetric(t.Context(), w.team, id, long, "excerpt", 0, 1); err == nil {
			t.Error("sorted by something other than a metric")
		}
	})
}

// The gain of a period starts from the newest count before it, regardless of its age, so that the gains of adjacent
// periods add up. It starts from the first count in the period only if there is no earlier count.
func TestGainAcrossGaps(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		id := w.connectHarbour()
		count := func(after time.Duration, followers int64, calls int) {
			w.setMetrics(followers)
			w.collectAfter(after, calls)
		}
		count(0, 100, 1) // 21 November
		count(3*day, 130, 2)
		count(6*day, 190, 3) // 30 November
		count(2*day, 200, 4)
		day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
		for _, c := range []struct {
			first, last int
			gain        int64 // -1 if unknown
			since       int   // the day of the count if it is in the period
		}{
			{15, 32, 100, 21}, {21, 32, 100, 21}, {22, 32, 100, 0}, {22, 28, 30, 0}, {27, 30, 60, 0}, {29, 32, 70, 0}, {31, 32, 10, 0},
			{26, 28, -1, 0}, {15, 21, -1, 0}, {10, 20, -1, 0},
		} {
			period := analytics.PeriodOf(day(c.first), day(c.last), w.zone)
			got := must.Get(w.service.ComparePeriods(t.Context(), w.team, period))(t)[0]
			call := operation.Call{Actor: &access.Actor{TeamID: w.team, Zone: w.zone, Plan: w.plan}, Now: w.clock.Now()}
			account := must.Get(w.service.Analyze(t.Context(), call, id, period))(t).Data.Followers
			var change *int64
			if account != nil {
				change = account.Change
			}
			if countOrMinusOne(got.Change) != c.gain || countOrMinusOne(change) != c.gain {
				t.Errorf("%d to %d: overview %d, account %d, want %d", c.first, c.last, countOrMinusOne(got.Change),
					countOrMinusOne(change), c.gain)
			}
			if last := got.Gained(day(c.first), day(c.last)); c.gain >= 0 && countOrMinusOne(last) != c.gain {
				t.Errorf("%d to %d: the last day has %d, want %d", c.first, c.last, countOrMinusOne(last), c.gain)
			}
			if want := c.since; (want == 0) != got.Since.IsZero() || want > 0 && !got.Since.Equal(day(want)) {
				t.Errorf("%d to %d: since %v, want %d", c.first, c.last, got.Since, want)
			}
		}
		got := must.Get(w.service.ComparePeriods(t.Context(), w.team, analytics.PeriodOf(day(28), day(32), w.zone)))(t)[0]
		if first := got.Gained(day(28), day(28)); countOrMinusOne(first) != 0 {
			t.Errorf("the first day has %d, want 0", countOrMinusOne(first))
		}
	})
}
