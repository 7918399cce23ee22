package stats_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/provider"
)

// A requested hashtag is measured once, and then every week while it is requested.
func TestMeasureEnqueued(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		b := w.background()
		w.recordPosts(post("1", "unwanted"))
		w.enqueue(provider.Instagram, "sea")
		w.clock.Advance(tick)
		w.enqueue("", "tea")
		w.check(b, "instagram/sea", "tiktok/tea", "instagram/tea")
		w.check(b)
		w.clock.Advance(7*day - tick)
		w.check(b)
		w.enqueue(provider.Instagram, "fresh")
		w.clock.Advance(tick)
		asked := w.measureAll(b)
		if i, j := slices.Index(asked, "instagram/fresh"), slices.Index(asked, "instagram/sea"); i < 0 || j < i ||
			len(asked) != 4 {
			t.Errorf("requested in this order: %v", asked)
		}
		// After a month, only hashtags requested since or in a list are measured.
		w.listed["instagram/tea"] = true
		w.clock.Advance(24 * day)
		w.enqueue(provider.TikTok, "tea")
		asked = w.measureAll(b)
		slices.Sort(asked)
		if diff := cmp.Diff([]string{"instagram/fresh", "instagram/tea", "tiktok/tea"}, asked); diff != "" {
			t.Error(diff)
		}
		if found := w.get(provider.Instagram, "sea", "unwanted"); len(found) != 1 || found["sea"].Posts == nil {
			t.Errorf("metrics of hashtags without demand were deleted: %v", found)
		}
		w.enqueue(provider.Instagram, "sea")
		w.check(b, "instagram/sea")
		w.audit()
	})
}

func (w *env) check(b *stats.Measurer, want ...string) {
	w.t.Helper()
	if got := w.measureAll(b); !slices.Equal(got, want) {
		w.t.Errorf("asked for %v, want %v", got, want)
	}
}

// A hashtag that is no longer requested is deleted before it was measured.
func TestDemandExpires(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		w.enqueue(provider.Instagram, "sea", "lake")
		w.listed["instagram/lake"] = true
		w.clock.Advance(31 * day)
		w.check(w.background(), "instagram/lake")
		if diff := cmp.Diff([]string{"lake"}, w.queryLines(`SELECT hashtag FROM hashtags`)); diff != "" {
			t.Error(diff)
		}
	})
}

// Statistics from elsewhere, such as a search, make a measurement unnecessary.
func TestRecordedNotMeasured(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		b := w.background()
		w.enqueue(provider.Instagram, "sea")
		w.record(provider.Instagram, w.metrics("sea", 5))
		w.check(b)
		w.clock.Advance(7 * day)
		w.check(b, "instagram/sea")
	})
}

func TestMissingNotRetried(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		b := w.background()
		w.enqueue(provider.Instagram, "missing", "sea")
		w.listed["instagram/missing"] = true
		w.tells = func(q provider.HashtagQuery) (provider.HashtagMetrics, error) {
			if q.Hashtag == "missing" {
				return provider.HashtagMetrics{}, provider.ErrNotFound
			}
			return w.metrics(q.Hashtag, 1), nil
		}
		w.check(b, "instagram/missing", "instagram/sea")
		if n := w.count(`SELECT COUNT(*) FROM hashtags WHERE hashtag = 'missing' AND missing_at > 0
			AND measured_at = 0`); n != 1 {
			t.Error("the missing hashtag was not recorded as missing")
		}
		w.clock.Advance(30*day - tick)
		w.enqueue(provider.Instagram, "missing")
		w.check(b, "instagram/sea")
		w.clock.Advance(tick)
		w.check(b, "instagram/missing")
	})
}

// A platform without provider is tried once a day, with a single hashtag.
func TestUnsupportedPlatform(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		b := w.background()
		w.enqueue(provider.TikTok, numberTags("tag", 3)...)
		w.enqueue(provider.Instagram, "sea")
		w.tells = func(q provider.HashtagQuery) (provider.HashtagMetrics, error) {
			if q.Platform == provider.TikTok {
				return provider.HashtagMetrics{}, provider.ErrNotOffered
			}
			return w.metrics(q.Hashtag, 1), nil
		}
		w.check(b, "instagram/sea", "tiktok/tag0")
		w.clock.Advance(day - tick)
		w.check(b)
		w.clock.Advance(tick)
		w.check(b, "tiktok/tag1")
	})
}

func TestUnavailableSource(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		b := w.background()
		w.enqueue(provider.Instagram, "sea", "lake")
		w.tells = func(provider.HashtagQuery) (provider.HashtagMetrics, error) {
			return provider.HashtagMetrics{}, &provider.UnavailableError{After: 2 * time.Hour, Err: errBroken}
		}
		w.check(b, "instagram/sea")
		w.clock.Advance(2*time.Hour - tick)
		w.check(b)
		w.clock.Advance(tick)
		// The provider specified a delay, so the hashtag stays first.
		w.tells = func(provider.HashtagQuery) (provider.HashtagMetrics, error) {
			return provider.HashtagMetrics{}, &provider.UnavailableError{Err: errBroken}
		}
		w.check(b, "instagram/sea")
		w.clock.Advance(15 * time.Minute)
		// The provider specified no delay, so the hashtag may be the cause, and another hashtag is tried.
		w.check(b, "instagram/lake")
		w.tells = nil
		w.clock.Advance(15 * time.Minute)
		w.check(b)
		w.clock.Advance(time.Hour)
		if asked := w.measureAll(b); len(asked) != 2 {
			t.Errorf("asked for %v", asked)
		}
		if n := w.count(`SELECT COUNT(*) FROM hashtags WHERE fails > 0`); n != 0 {
			t.Errorf("%d hashtags still have failures", n)
		}
	})
}

// Failures are retried with backoff, and a panic does not block others.
func TestFailureBackoff(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		b := w.background()
		w.enqueue(provider.Instagram, "sea")
		w.listed["instagram/sea"] = true
		w.tells = func(provider.HashtagQuery) (provider.HashtagMetrics, error) {
			return provider.HashtagMetrics{}, errBroken
		}
		for try := range 10 {
			if more, err := b.Measure(t.Context()); !more || err == nil || !strings.Contains(err.Error(), "broken") {
				t.Fatalf("try %d: %t, %v", try, more, err)
			}
			w.clock.Advance(min(time.Hour<<try, 7*day) - tick)
			w.check(b)
			w.clock.Advance(tick)
		}
		w.tells = func(provider.HashtagQuery) (provider.HashtagMetrics, error) { panic("broken") }
		w.check(b, "instagram/sea")
		w.clock.Advance(7 * day)
		w.tells = nil
		w.check(b, "instagram/sea")
	})
}

// Two nodes never measure the same hashtag concurrently. A hashtag leased by a dead node is blocked for some minutes.
func TestNodesShareWork(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		w.enqueue("", numberTags("tag", 20)...)
		var mu sync.Mutex
		under := map[string]int{}
		w.tells = func(q provider.HashtagQuery) (provider.HashtagMetrics, error) {
			mu.Lock()
			under[q.Platform+"/"+q.Hashtag]++
			mu.Unlock()
			return w.metrics(q.Hashtag, 1), nil
		}
		var all sync.WaitGroup
		for range 4 {
			b := w.background()
			all.Go(func() {
				for {
					more, err := b.Measure(w.t.Context())
					if err != nil {
						t.Error(err)
					}
					if !more {
						return
					}
				}
			})
		}
		all.Wait()
		for name, times := range under {
			if times != 1 {
				t.Errorf("%s was measured %d times", name, times)
			}
		}
		if len(under) != 40 {
			t.Errorf("%d hashtags were measured", len(under))
		}
	})
}

func TestDeadNode(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		w.enqueue(provider.Instagram, "sea")
		ctx, kill := context.WithCancel(t.Context())
		w.tells = func(provider.HashtagQuery) (provider.HashtagMetrics, error) {
			kill()
			return provider.HashtagMetrics{}, context.Canceled
		}
		if _, err := w.background().Measure(ctx); err != nil {
			t.Error(err)
		}
		w.tells = nil
		w.clock.Advance(6*time.Minute - tick)
		w.check(w.background())
		w.clock.Advance(tick)
		w.check(w.background(), "instagram/sea")
	})
}

// A late node does not reschedule a hashtag that another node or a search has measured meanwhile.
func TestLateNodeDoesNotReschedule(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		w.enqueue(provider.Instagram, "sea")
		w.tells = func(provider.HashtagQuery) (provider.HashtagMetrics, error) {
			w.clock.Advance(7 * time.Minute)
			w.tells = nil
			w.check(w.background(), "instagram/sea")
			return provider.HashtagMetrics{}, provider.ErrNotFound
		}
		if _, err := w.background().Measure(t.Context()); err != nil {
			t.Error(err)
		}
		if n := w.count(`SELECT COUNT(*) FROM hashtags WHERE missing_at > 0 OR fails > 0`); n != 0 {
			t.Error("a node without a lease wrote metrics")
		}
	})
}

func TestRunMeasuresUntilTheEnd(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		w.enqueue(provider.Instagram, "sea", "lake")
		ctx, stop := context.WithCancel(t.Context())
		w.tells = func(q provider.HashtagQuery) (provider.HashtagMetrics, error) {
			if q.Hashtag == "lake" {
				defer stop()
			}
			return w.metrics(q.Hashtag, 1), nil
		}
		w.background().Run(ctx, func(err error) { t.Error(err) })
		if found := w.get(provider.Instagram, "sea"); len(found) != 1 {
			t.Errorf("known: %v", found)
		}
	})
}
