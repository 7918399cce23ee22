package clusterstats_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/platform/clusterstats"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

func open(t *testing.T, url string, clock *testkit.Clock) *db.DB {
	t.Helper()
	d := must.Get(db.Open(t.Context(), url, db.Options{Now: clock.Now}))(t)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// In each interval, only one node measures, and all nodes read the result.
func TestOneNodeMeasures(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		var times atomic.Int64
		since := clock.Now().Add(-time.Hour)
		measure := clusterstats.Collector{Name: "loads", Interval: 15 * time.Second,
			Collect: func(context.Context) ([]clusterstats.Metric, error) {
				return []clusterstats.Metric{
					{Name: "jobs", Labels: []string{"a", "b"}, Value: float64(times.Add(1))}, {Name: "age", Since: since},
				}, nil
			}}
		d := open(t, url, clock)
		nodes := []*clusterstats.Service{clusterstats.New(d, measure), clusterstats.New(d, measure), clusterstats.New(d, measure)}
		reader := clusterstats.New(d, measure)
		for round := range 3 {
			var wg sync.WaitGroup
			for _, node := range nodes {
				for range 2 {
					wg.Go(func() {
						if err := node.Once(t.Context(), true); err != nil {
							t.Error(err)
						}
					})
				}
			}
			wg.Wait()
			if n := times.Load(); n != int64(round+1) {
				t.Fatalf("measured %d times in %d intervals", n, round+1)
			}
			must.NoError(t, reader.Once(t.Context(), false))
			want := []clusterstats.Measurement{
				{Name: "loads", MeasuredAt: clock.Now(), Metrics: []clusterstats.Metric{
					{Name: "jobs", Labels: []string{"a", "b"}, Value: float64(round + 1)}, {Name: "age", Since: since},
				}},
			}
			if diff := cmp.Diff(want, reader.Last()); diff != "" {
				t.Error(diff)
			}
			clock.Advance(15 * time.Second)
		}
	})
}

// A collector that fails keeps its last result and does not affect other collectors.
func TestFailingMeasure(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		began := clock.Now()
		broken := errors.New("table missing")
		var fails bool
		one := clusterstats.Collector{Name: "one", Interval: time.Minute,
			Collect: func(context.Context) ([]clusterstats.Metric, error) {
				if fails {
					return nil, broken
				}
				return []clusterstats.Metric{{Name: "x", Value: 1}}, nil
			}}
		two := clusterstats.Collector{Name: "two", Interval: time.Minute,
			Collect: func(context.Context) ([]clusterstats.Metric, error) {
				return []clusterstats.Metric{{Name: "y", Value: 2}}, nil
			}}
		s := clusterstats.New(open(t, url, clock), one, two)
		if got := s.Last(); len(got) != 0 {
			t.Fatalf("before anything was read: %v", got)
		}
		must.NoError(t, s.Once(t.Context(), true))
		clock.Advance(time.Minute)
		fails = true
		if err := s.Once(t.Context(), true); !errors.Is(err, broken) {
			t.Errorf("the failure was returned as %v", err)
		}
		want := []clusterstats.Measurement{
			{"one", began, []clusterstats.Metric{{Name: "x", Value: 1}}},
			{"two", began.Add(time.Minute), []clusterstats.Metric{{Name: "y", Value: 2}}},
		}
		if diff := cmp.Diff(want, s.Last()); diff != "" {
			t.Error(diff)
		}
	})
}
