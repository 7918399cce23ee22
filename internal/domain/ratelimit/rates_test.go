package ratelimit_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/ratelimit"
	"pressroom.example/pressroom/internal/testkit"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestRates(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(start)
	rates := inMemory(t, plan.Default().Limits, clock)
	take := func() pipeline.Rate { return rates.Take(t.Context(), pipeline.PerCredential, 7) }
	rate := pipeline.Rate{Scope: "credential", Quota: 30, Window: 15 * time.Second}

	for i := 1; i <= 30; i++ {
		rate.Remaining, rate.Reset = 30-i, time.Duration(i)*500*time.Millisecond
		checkRate(t, take(), rate)
	}
	rate.Limited, rate.RetryAfter = true, 500*time.Millisecond
	for range 100 { // rejected calls do not count
		checkRate(t, take(), rate)
	}
	clock.Advance(499 * time.Millisecond)
	rate.Reset, rate.RetryAfter = 14_501*time.Millisecond, time.Millisecond
	checkRate(t, take(), rate)
	clock.Advance(time.Millisecond)
	checkRate(t, take(), pipeline.Rate{Scope: "credential", Quota: 30, Window: 15 * time.Second, Remaining: 0, Reset: 15 * time.Second})
	rate.Reset, rate.RetryAfter = 15*time.Second, 500*time.Millisecond
	checkRate(t, take(), rate)
	clock.Advance(15 * time.Second)
	checkRate(t, take(), pipeline.Rate{
		Scope: "credential", Quota: 30, Window: 15 * time.Second, Remaining: 29, Reset: 500 * time.Millisecond,
	})
}

func TestRatesSeparatePerTeam(t *testing.T) {
	t.Parallel()
	rates := inMemory(t, plan.Default().Limits, testkit.NewClock(start))
	for _, want := range []pipeline.Rate{
		{Scope: pipeline.PerCredential, Quota: 30, Window: 15 * time.Second, Reset: 500 * time.Millisecond},
		{Scope: pipeline.PerConnection, Quota: 20, Window: 20 * time.Second, Reset: time.Second},
		{Scope: pipeline.PerProvider, Quota: 10, Window: 30 * time.Second, Reset: 3 * time.Second},
	} {
		want.Remaining = want.Quota - 1
		for _, who := range []int64{7, 8, 263, 1 << 62} {
			checkRate(t, rates.Take(t.Context(), want.Scope, who), want)
			for range want.Quota {
				rates.Take(t.Context(), want.Scope, who)
			}
			if !rates.Take(t.Context(), want.Scope, who).Limited {
				t.Errorf("%s %d: a call beyond the quota was allowed", want.Scope, who)
			}
		}
	}
}

func TestInvalidRates(t *testing.T) {
	t.Parallel()
	for name, rate := range map[string]plan.Rate{
		"nothing": {}, "no burst": {PerMinute: 10}, "no rate": {Burst: 10}, "less than nothing": {PerMinute: -1, Burst: 10},
		"more than one in a nanosecond": {PerMinute: 100_000_000_000, Burst: 1},
	} {
		limits := plan.Default().Limits
		limits.Writes = rate
		if _, err := ratelimit.NewRates(limits, ratelimit.RatesOptions{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := ratelimit.NewRates(plan.Default().ScaleRates(1000).Limits, ratelimit.RatesOptions{}); err != nil {
		t.Errorf("fast limits: %v", err)
	}
}

// TestConcurrentRates checks that exactly the quota of concurrent calls is allowed.
func TestConcurrentRates(t *testing.T) {
	t.Parallel()
	rates := inMemory(t, plan.Limits{Requests: plan.Rate{PerMinute: 60, Burst: 5000}, Writes: one, Networks: one}, testkit.NewClock(start))
	if got := runConcurrently(64, 200, rates); got != 5000 {
		t.Errorf("%d calls were allowed with a quota of 5000", got)
	}
}

// TestMaxCallers checks that a caller is forgotten after 65,536 others.
func TestMaxCallers(t *testing.T) {
	t.Parallel()
	rates := inMemory(t, plan.Limits{Requests: one, Writes: one, Networks: one}, testkit.NewClock(start))
	first := func() bool { return !rates.Take(t.Context(), pipeline.PerCredential, -1).Limited }
	others := func(count int64) {
		for who := range count {
			rates.Take(t.Context(), pipeline.PerCredential, who)
		}
	}
	if !first() {
		t.Error("the first call is rejected")
	}
	others(65_535)
	if first() {
		t.Error("the caller was dropped too early")
	}
	others(65_536)
	if !first() {
		t.Error("the caller was never dropped")
	}
}

// TestRatesLeakLikeABucket compares the limits with a leaky bucket.
func TestRatesLeakLikeABucket(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clock := testkit.NewClock(start)
		rate := plan.Rate{PerMinute: rapid.IntRange(1, 5000).Draw(t, "per minute"), Burst: rapid.IntRange(1, 20).Draw(t, "burst")}
		rates, err := ratelimit.NewRates(plan.Limits{Requests: one, Writes: rate, Networks: one}, ratelimit.RatesOptions{Now: clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		drop := time.Minute / time.Duration(rate.PerMinute)
		full := drop * time.Duration(rate.Burst)
		buckets := map[int64]time.Duration{}
		for range rapid.IntRange(1, 100).Draw(t, "calls") {
			wait := time.Duration(rapid.Int64Range(0, int64(2*drop)).Draw(t, "wait"))
			clock.Advance(wait)
			for who := range buckets {
				buckets[who] = max(buckets[who]-wait, 0)
			}
			who := rapid.Int64Range(1, 3).Draw(t, "who")
			want := pipeline.Rate{Scope: pipeline.PerConnection, Quota: rate.Burst, Window: full}
			if over := buckets[who] + drop - full; over > 0 {
				want.Limited, want.RetryAfter = true, over
			} else {
				buckets[who] += drop
			}
			want.Reset, want.Remaining = buckets[who], int((full-buckets[who])/drop)
			if diff := cmp.Diff(want, rates.Take(context.Background(), pipeline.PerConnection, who)); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func TestMemoryRatesNotShared(t *testing.T) {
	t.Parallel()
	rates := inMemory(t, plan.Default().Limits, testkit.NewClock(start))
	if configured, answering := rates.RedisStatus(t.Context()); configured || answering {
		t.Errorf("shared: %t, %t", configured, answering)
	}
}

func BenchmarkTake(b *testing.B) {
	for name, callers := range map[string]int64{"one caller": 1, "1000 callers": 1000, "more callers than are kept": 100_000} {
		rates, err := ratelimit.NewRates(plan.Default().ScaleRates(100_000).Limits, ratelimit.RatesOptions{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var next atomic.Int64
			b.RunParallel(func(pb *testing.PB) {
				for who := next.Add(1_000_003); pb.Next(); who++ {
					rates.Take(context.Background(), pipeline.PerCredential, who%callers)
				}
			})
		})
	}
}

// one is a rate of one call per minute.
var one = plan.Rate{PerMinute: 1, Burst: 1}

func inMemory(t *testing.T, limits plan.Limits, clock *testkit.Clock) *ratelimit.Rates {
	t.Helper()
	rates, err := ratelimit.NewRates(limits, ratelimit.RatesOptions{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rates.Close(); err != nil {
			t.Error(err)
		}
	})
	return rates
}

// runConcurrently makes concurrent calls to one or more nodes, and returns how many are allowed.
func runConcurrently(callers, calls int, nodes ...*ratelimit.Rates) int64 {
	var (
		group   sync.WaitGroup
		through atomic.Int64
	)
	for i := range callers {
		group.Go(func() {
			for range calls {
				if !nodes[i%len(nodes)].Take(context.Background(), pipeline.PerCredential, 7).Limited {
					through.Add(1)
				}
			}
		})
	}
	group.Wait()
	return through.Load()
}

func checkRate(t *testing.T, got, want pipeline.Rate) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
