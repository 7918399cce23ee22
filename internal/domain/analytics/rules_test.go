package analytics

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/testkit/must"
)

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	return zone
}

// firstDay returns midnight in the zone, even across days with 23 or 25 hours.
func TestFirstDay(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	for _, c := range []struct {
		now  string
		days int
		want string
	}{
		{"2026-11-21T12:00:00+01:00", 1, "2026-11-21T00:00:00+01:00"},
		{"2026-11-21T00:00:00+01:00", 1, "2026-11-21T00:00:00+01:00"},
		{"2026-11-20T23:30:00Z", 1, "2026-11-21T00:00:00+01:00"},
		{"2026-11-21T12:00:00+01:00", 30, "2026-10-23T00:00:00+02:00"}, // across the end of summer time on the 25th
		{"2026-10-25T02:30:00+02:00", 1, "2026-10-25T00:00:00+02:00"},
		{"2026-10-25T02:30:00+01:00", 2, "2026-10-24T00:00:00+02:00"},
		{"2026-03-29T03:00:00+02:00", 1, "2026-03-29T00:00:00+01:00"}, // the day without 02:00
		{"2026-03-30T00:30:00+02:00", 2, "2026-03-29T00:00:00+01:00"},
		{"2026-03-01T12:00:00+01:00", 365, "2025-03-02T00:00:00+01:00"},
		{"2026-11-21T12:00:00+01:00", 0, "2026-11-22T00:00:00+01:00"},
	} {
		now := must.Get(time.Parse(time.RFC3339, c.now))(t)
		if got := firstDay(now, zone, c.days).In(zone).Format(time.RFC3339); got != c.want {
			t.Errorf("%d days until %s start at %s, want %s", c.days, c.now, got, c.want)
		}
	}
}

func TestDaysBetween(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(0, 4_000_000_000).Draw(t, "now"), 0)
		days := rapid.IntRange(1, 400).Draw(t, "days")
		if got := daysBetween(firstDay(now, zone, days), now, zone); got != days {
			t.Fatalf("%d days, want %d", got, days)
		}
	})
}

// The ranks are from published tables of binomial confidence intervals.
func TestRank(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{1: 0, 5: 0, 6: 1, 8: 1, 9: 2, 10: 2, 12: 3, 15: 4, 20: 6, 25: 8, 30: 10, 50: 18,
		100: 40, 1000: 469} {
		if got := rank(n); got != want {
			t.Errorf("rank(%d) = %d, want %d", n, got, want)
		}
	}
}

// For any distribution, the interval contains the median with a probability of 95%.
func TestIntervalContainsMedian(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) // fixed seed
	for _, n := range []int{6, 17, 40} {
		hits := 0
		const times = 4000
		for range times {
			metrics := make([]float64, n)
			for i := range metrics {
				metrics[i] = random.ExpFloat64()
			}
			const median = 0.6931471805599453
			if s := medianWithInterval(metrics); s.Interval.Low <= median && median <= s.Interval.High {
				hits++
			}
		}
		if share := float64(hits) / times; share < 0.945 {
			t.Errorf("n = %d: %f of the intervals contain the median", n, share)
		}
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		metrics []float64
		want    *AccountAnalyticsEngagementPerPost
	}{
		{nil, nil},
		{[]float64{7}, &AccountAnalyticsEngagementPerPost{Median: 7, Posts: 1}},
		{[]float64{9, 1}, &AccountAnalyticsEngagementPerPost{Median: 5, Posts: 2}},
		{[]float64{5, 1, 4, 2, 3}, &AccountAnalyticsEngagementPerPost{Median: 3, Posts: 5}},
		{[]float64{6, 5, 1, 4, 2, 3}, &AccountAnalyticsEngagementPerPost{
			Median: 3.5, Posts: 6, Interval: &AccountAnalyticsEngagementPerPostInterval{1, 6},
		}},
		{[]float64{9, 8, 7, 6, 5, 4, 3, 2, 1}, &AccountAnalyticsEngagementPerPost{
			Median: 5, Posts: 9, Interval: &AccountAnalyticsEngagementPerPostInterval{2, 8},
		}},
	} {
		before := slices.Clone(c.metrics)
		if diff := cmp.Diff(c.want, medianWithInterval(c.metrics)); diff != "" || !slices.Equal(before, c.metrics) {
			t.Error(diff)
		}
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	if _, found := bestPost(nil); found {
		t.Error("best of no posts")
	}
	if _, found := bestPost([]storedPost{{id: "1"}}); found {
		t.Error("best of posts without metrics")
	}
	for want, posts := range map[string][]storedPost{
		"most likes": {{id: "few", counts: AccountAnalyticsBestPostCounts{Likes: new(int64(1)), Views: new(int64(900))}},
			{id: "most likes", counts: AccountAnalyticsBestPostCounts{Likes: new(int64(2)), Comments: new(int64(1))}}},
		"newest": {{id: "newest", counts: AccountAnalyticsBestPostCounts{Likes: new(int64(3))}},
			{id: "older", counts: AccountAnalyticsBestPostCounts{Saves: new(int64(3))}}},
		"most views": {{id: "few", counts: AccountAnalyticsBestPostCounts{Views: new(int64(5))}},
			{id: "most views", counts: AccountAnalyticsBestPostCounts{Views: new(int64(6))}}},
		"most reach": {{id: "few", counts: AccountAnalyticsBestPostCounts{Reach: new(int64(5))}},
			{id: "most reach", counts: AccountAnalyticsBestPostCounts{Reach: new(int64(6))}}},
		"no likes": {{id: "seen", counts: AccountAnalyticsBestPostCounts{Views: new(int64(5))}},
			{id: "no likes", counts: AccountAnalyticsBestPostCounts{Likes: new(int64(0))}}},
	} {
		if got, _ := bestPost(posts); got.id != want {
			t.Errorf("%q is best, want %q", got.id, want)
		}
	}
}

func TestCadence(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	at := func(text string) time.Time {
		when := must.Get(time.Parse(time.RFC3339, text))(t)
		return when
	}
	// Ten days across the end of summer time: a Tuesday to the next week's Thursday.
	got := cadence([]storedPost{
		{postedAt: at("2026-10-28T23:30:00+01:00")}, // Wednesday
		{postedAt: at("2026-10-25T23:30:00+01:00")}, // Sunday, the last half hour before midnight
		{postedAt: at("2026-10-25T00:30:00+02:00")}, // Sunday, Saturday in UTC
		{postedAt: at("2026-10-22T08:00:00+02:00")}, // Thursday
	}, at("2026-10-20T00:00:00+02:00"), at("2026-10-29T10:00:00+01:00"), zone)
	want := &AccountAnalyticsCadence{Posts: 4, Days: 10, PostsPerWeek: 2.8, LongestGap: 2, ByWeekday: []AccountAnalyticsCadenceByWeekday{
		{"monday", 0}, {"tuesday", 0}, {"wednesday", 1}, {"thursday", 1}, {"friday", 0}, {"saturday", 0}, {"sunday", 2},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	empty := cadence(nil, at("2026-10-20T00:00:00+02:00"), at("2026-10-29T10:00:00+01:00"), zone)
	if empty.LongestGap != 10 || empty.PostsPerWeek != 0 {
		t.Errorf("%+v", empty)
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	days := func(dates ...string) []followerCount {
		var out []followerCount
		for i, day := range dates {
			out = append(out, followerCount{day: day, followers: int64(100 + 10*i)})
		}
		return out
	}
	for _, c := range []struct {
		days []followerCount
		want int64
		ok   bool
	}{
		{nil, 0, false},
		{days("2026-11-01"), 0, false},
		{days("2026-10-31"), 0, false},
		{days("2026-10-31", "2026-11-01"), 10, true},
		{days("2026-10-31", "2026-11-01", "2026-11-02"), 20, true},
		{days("2026-11-05", "2026-11-06"), 10, true},
		{days("2026-10-29", "2026-11-05", "2026-11-06"), 20, true},
		{days("2026-10-20", "2026-10-29", "2026-11-05"), 10, true},
		{days("2026-10-20", "2026-10-29"), 0, false},
		{days("2026-11-05", "2026-11-30", "2026-12-01"), 10, true},
	} {
		if _, got, ok := followerChange(c.days, "2026-10-31", "2026-11-30"); got != c.want || ok != c.ok {
			t.Errorf("%v: %d, %t", c.days, got, ok)
		}
	}
}

// A network uses at most half of the slots.
func TestSlotsPerNetwork(t *testing.T) {
	t.Parallel()
	s := newSlots(4)
	for i, c := range []struct {
		platform string
		want     bool
	}{{"x", true}, {"x", true}, {"x", false}, {"threads", true}, {"bluesky", true}, {"threads", false}} {
		if got := s.take(c.platform); got != c.want {
			t.Errorf("%d: slot for %s: %t", i, c.platform, got)
		}
	}
	if free, full := s.available(); free != 0 || !slices.Equal(full, []string{"x"}) {
		t.Errorf("%d free slots, full networks %v", free, full)
	}
	s.release("x")
	select {
	case <-s.freed:
	default:
		t.Error("no signal for the free slot")
	}
	if free, full := s.available(); free != 1 || len(full) != 0 || !s.take("threads") {
		t.Errorf("%d free slots, full networks %v", free, full)
	}
}
