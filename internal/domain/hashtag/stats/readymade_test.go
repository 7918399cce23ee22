package stats_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
)

// withReadyMade returns a measurer with ready-made lists.
func (w *env) withReadyMade(tags ...string) *stats.Measurer {
	return stats.NewMeasurer(w.store, stats.Options{
		Source: w, Log: slog.New(slog.DiscardHandler), InAnyList: func(context.Context, db.Querier, string, string) (
			bool, error) {
			return false, nil
		},
		ReadyMade: func(platform string) []string {
			if platform == provider.TikTok {
				return nil
			}
			return tags
		},
	})
}

// Ready-made hashtags are measured when nothing else is due, one every ten minutes in order, and again after a month.
func TestReadyMadeMeasuredLast(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		b := w.withReadyMade("coffee", "tea", "milk")
		w.enqueue(provider.Instagram, "sea")
		w.record(provider.Instagram, w.metrics("tea", 5)) // known by a search
		w.check(b, "instagram/sea", "instagram/coffee")
		w.check(b)
		w.clock.Advance(10*time.Minute - tick)
		w.check(b)
		w.clock.Advance(tick)
		w.enqueue(provider.Instagram, "lake")
		w.check(b, "instagram/lake", "instagram/milk")
		w.clock.Advance(10 * time.Minute)
		w.check(b) // all have current metrics
		if found := w.get(provider.Instagram, "coffee", "milk"); len(found) != 2 || found["coffee"].Posts == nil {
			t.Errorf("known: %v", found)
		}
		w.clock.Advance(31 * day)
		first := w.measureAll(b)
		w.clock.Advance(10 * time.Minute)
		if again := slices.Concat(first, w.measureAll(b)); len(again) != 2 || again[0] == again[1] {
			t.Errorf("measured after a month: %v", again)
		}
		w.audit()
	})
}

// A provider that reserves its quota gets fewer requests for ready-made hashtags. It gets as many requests for teams'
// hashtags as before.
func TestReadyMadeYieldsQuota(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		b := w.withReadyMade("coffee", "tea")
		w.tells = func(q provider.HashtagQuery) (provider.HashtagMetrics, error) {
			if q.LowPriority {
				return provider.HashtagMetrics{}, &provider.UnavailableError{After: 3 * day, Err: errBroken}
			}
			return w.metrics(q.Hashtag, 1), nil
		}
		w.check(b, "instagram/coffee")
		w.clock.Advance(10 * time.Minute)
		w.enqueue(provider.Instagram, "sea")
		w.check(b, "instagram/sea")
		w.clock.Advance(6 * time.Hour)
		w.tells = nil
		w.check(b, "instagram/tea")
		w.clock.Advance(10 * time.Minute)
		w.check(b, "instagram/coffee") // it is due again
	})
}

// A platform without a provider, a missing hashtag and a failing hashtag do not block others.
func TestReadyMadeFailures(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		b := w.withReadyMade("missing", "broken", "panics", "tea")
		w.tells = func(q provider.HashtagQuery) (provider.HashtagMetrics, error) {
			switch q.Hashtag {
			case "missing":
				return provider.HashtagMetrics{}, provider.ErrNotFound
			case "broken":
				return provider.HashtagMetrics{}, errBroken
			case "panics":
				panic("broken")
			}
			return provider.HashtagMetrics{}, provider.ErrNotOffered
		}
		w.check(b, "instagram/missing")
		w.clock.Advance(10 * time.Minute)
		if _, err := b.Measure(t.Context()); err == nil {
			t.Error("the failure was not reported")
		}
		w.clock.Advance(10 * time.Minute)
		w.check(b, "instagram/panics")
		w.clock.Advance(10 * time.Minute)
		w.check(b, "instagram/tea")
		w.clock.Advance(time.Hour)
		w.check(b)
		w.tells = nil
		w.clock.Advance(day)
		w.check(b, "instagram/missing")
	})
}

// Nodes share the interval.
func TestNodesShareReadyMadeInterval(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		var all sync.WaitGroup
		for range 4 {
			b := w.withReadyMade(numberTags("tag", 20)...)
			all.Go(func() {
				for range 3 {
					if _, err := b.Measure(w.t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if len(w.requests) != 1 {
			t.Errorf("asked for %v", w.requests)
		}
	})
}
