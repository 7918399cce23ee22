package team

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/must"
)

// What unknown people's passwords are hashed against costs what everybody's does.
func TestNobodysHashCostsTheSame(t *testing.T) {
	t.Parallel()
	own := must.Get(HashPassword("any"))(t)
	a, b := strings.Split(own, "$"), strings.Split(nobodysHash, "$")
	if strings.Join(a[:4], "$") != strings.Join(b[:4], "$") || len(a[4]) != len(b[4]) || len(a[5]) != len(b[5]) {
		t.Errorf("%s, and nobody's is %s", own, nobodysHash)
	}
}

// However many keys are tried, the number of tallies stays bounded, and most of them stay.
func TestTalliesAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := newLocalCounter(func() time.Time { return now }, ownPace)
	for i := range localTallies + 10 {
		c.count(tryKey{byte(i), byte(i >> 8), byte(i >> 16)})
		if len(c.of) > localTallies {
			t.Fatalf("%d tallies", len(c.of))
		}
	}
	if len(c.of) < localTallies*7/8 {
		t.Errorf("%d tallies are left", len(c.of))
	}
	for i := range localTallies {
		c.count(tryKey{byte(i), byte(i >> 8), byte(i >> 16), 1})
	}
	now = now.Add(forgetAfter)
	c.evict(now)
	if len(c.of) != 0 {
		t.Errorf("%d tallies are left after a day", len(c.of))
	}
}

// The delay doubles up to an hour, and ends a day after the last wrong try.
func TestDelaysGrow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := newLocalCounter(func() time.Time { return now }, ownPace)
	waits := func(what string, want time.Duration) {
		t.Helper()
		if _, wait := c.count(tryKey{}); wait != want {
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

// A client that leaks is forgiven little by little: an office with a steady trickle of typing errors is not delayed.
func TestClientsAreForgivenSteadily(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := newLocalCounter(func() time.Time { return now }, clientPace)
	for i := range 1000 {
		if _, wait := c.count(tryKey{}); wait > 0 {
			t.Fatalf("try %d has to wait %s", i, wait)
		}
		now = now.Add(6 * time.Minute)
	}
	passed := 0
	for range 24 * 60 {
		if _, wait := c.count(tryKey{}); wait == 0 {
			passed++
		}
		now = now.Add(time.Minute)
	}
	if passed < 30 || passed > 30+240+24 {
		t.Errorf("%d tries passed within a day", passed)
	}
}

// The counter counts as a list of times does, anything that is tried, taken back and waited for.
func TestCountersAgainstAModel(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		now := start
		c, key := newLocalCounter(func() time.Time { return now }, ownPace), tryKey{}
		var wrong []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(rapid.SampledFrom([]time.Duration{
				0, time.Second, time.Minute, 3 * time.Minute, 40 * time.Minute, time.Hour, 25 * time.Hour,
			}).Draw(t, "later"))
			if n := len(wrong); n > 0 && now.Sub(wrong[n-1]) >= forgetAfter {
				wrong = nil
			}
			refused := false
			if n := len(wrong); n >= 5 {
				delay := time.Minute
				for range n - 5 {
					delay = min(2*delay, time.Hour)
				}
				refused = now.Before(wrong[n-1].Add(delay))
			}
			undo, wait := c.count(key)
			if (wait > 0) != refused {
				t.Fatalf("after %d wrong ones a try has to wait %s; refused by the model: %t", len(wrong), wait,
					refused)
			}
			if refused {
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

// Full has the service take no further addresses into its database.
func (s *SignIns) Full() {
	s.strangers.mu.Lock()
	defer s.strangers.mu.Unlock()
	s.strangers.rows, s.strangers.counted = sharedRows, s.db.Now()
}

// KnownFor reports whether a browser is known for a person.
func (s *Service) KnownFor(ctx context.Context, d *db.DB, person int64, browser string) bool {
	known, err := knownTokens(ctx, d, browser, d.Now())
	return err == nil && known[person] != ""
}

// HoldHashes takes every hash that strangers can wait for, until the function that it returns is called. Requests wait
// for as long as the test runs.
func (s *SignIns) HoldHashes() func() {
	s.hashing.wait = time.Hour
	for range cap(s.hashing.open) {
		s.hashing.open <- struct{}{}
	}
	return func() {
		for range cap(s.hashing.open) {
			<-s.hashing.open
		}
	}
}

// ChargeSite counts wrong passwords of a site until one more is free.
func (s *SignIns) ChargeSite(site string) {
	for range sitePace.free - 1 {
		s.sites.charge(keyOf("site %s", site))
	}
}
