package throttle

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

var (
	ownPace    = Policy{FreeAttempts: 5, InitialDelay: time.Minute, MaxDelay: time.Hour}
	clientPace = Policy{FreeAttempts: 30, InitialDelay: time.Minute, MaxDelay: time.Hour, Leak: 6 * time.Minute}
)

// The number of tallies is limited for any number of keys, and most of them are kept.
func TestCounterLimit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := NewLocal(func() time.Time { return now }, ownPace)
	for i := range maxLocalTallies + 10 {
		c.Count(Key{byte(i), byte(i >> 8), byte(i >> 16)})
		if len(c.tallies) > maxLocalTallies {
			t.Fatalf("%d tallies", len(c.tallies))
		}
	}
	if len(c.tallies) < maxLocalTallies*7/8 {
		t.Errorf("%d tallies are left", len(c.tallies))
	}
	for i := range maxLocalTallies {
		c.Count(Key{byte(i), byte(i >> 8), byte(i >> 16), 1})
	}
	now = now.Add(ForgetAfter)
	c.evict(now)
	if len(c.tallies) != 0 {
		t.Errorf("%d tallies are left after a day", len(c.tallies))
	}
}

// The delay doubles up to an hour, and ends a day after the last failure.
func TestDelaysGrow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := NewLocal(func() time.Time { return now }, ownPace)
	waits := func(what string, want time.Duration) {
		t.Helper()
		if _, wait := c.Count(Key{}); wait != want {
			t.Fatalf("%s has to wait %s, want %s", what, wait, want)
		}
	}
	for range 5 {
		waits("a free try", 0)
	}
	for _, minutes := range []int{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		delay := time.Duration(minutes) * time.Minute
		waits("the next try", delay)
		now = now.Add(delay - time.Second)
		waits("a try a second before the end", time.Second)
		now = now.Add(time.Second)
		waits("a try at the end", 0)
	}
	now = now.Add(24 * time.Hour)
	for range 5 {
		waits("a try a day later", 0)
	}
}

// Attempts are forgiven over time, so occasional typing errors in an office cause no delay.
func TestClientDecay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := NewLocal(func() time.Time { return now }, clientPace)
	for i := range 1000 {
		if _, wait := c.Count(Key{}); wait > 0 {
			t.Fatalf("try %d has to wait %s", i, wait)
		}
		now = now.Add(6 * time.Minute)
	}
	passed := 0
	for range 24 * 60 {
		if _, wait := c.Count(Key{}); wait == 0 {
			passed++
		}
		now = now.Add(time.Minute)
	}
	if passed < 30 || passed > 30+240+24 {
		t.Errorf("%d tries passed within a day", passed)
	}
}

// The counter matches a model, a list of times, for any sequence of attempts, refunds and waits.
func TestCountersMatchModel(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		now := start
		c, key := NewLocal(func() time.Time { return now }, ownPace), Key{}
		var wrong []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(rapid.SampledFrom([]time.Duration{
				0, time.Second, time.Minute, 3 * time.Minute, 40 * time.Minute, time.Hour, 25 * time.Hour,
			}).Draw(t, "later"))
			if n := len(wrong); n > 0 && now.Sub(wrong[n-1]) >= ForgetAfter {
				wrong = nil
			}
			rejected := false
			if n := len(wrong); n >= 5 {
				delay := time.Minute
				for range n - 5 {
					delay = min(2*delay, time.Hour)
				}
				rejected = now.Before(wrong[n-1].Add(delay))
			}
			undo, wait := c.Count(key)
			if (wait > 0) != rejected {
				t.Fatalf("after %d wrong ones a try has to wait %s; rejected by the model: %t", len(wrong), wait,
					rejected)
			}
			if rejected {
				continue
			}
			if rapid.Bool().Draw(t, "right") {
				undo()
			} else {
				wrong = append(wrong, now)
			}
		}
	})
}

// With the maximum number of rows in the database, new addresses are still delayed.
func TestDelayWithFullDatabase(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		c := NewShared(d, Policy{FreeAttempts: 10, InitialDelay: time.Minute, MaxDelay: time.Hour})
		c.rows, c.countedAt = maxSharedTallies, d.Now()
		counted := 0
		for range 30 {
			_, wait, err := c.add(t.Context(), NewKey("email"))
			must.NoError(t, err)
			if wait == 0 {
				counted++
			}
		}
		var rows int
		must.NoError(t, d.QueryRow(t.Context(), `SELECT COUNT(*) FROM sign_in_tries`).Scan(&rows))
		if counted != 10 || rows != 0 {
			t.Errorf("%d tries were counted, and %d rows written", counted, rows)
		}
	})
}
