package loadshed_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressroom/internal/platform/loadshed"
	"pressroom/internal/testkit/must"
)

// full is a room whose places are all taken.
func full(t *testing.T, places int) *loadshed.Room {
	t.Helper()
	r := loadshed.New(places)
	for range places {
		must.NoError(t, r.Enter(t.Context()))
	}
	return r
}

// mustBe holds a room against what it should be, once nothing moves any more.
func mustBe(t *testing.T, r *loadshed.Room, want loadshed.State) {
	t.Helper()
	synctest.Wait()
	if got := r.State(); got != want {
		t.Errorf("the room stands %+v, want %+v", got, want)
	}
}

func TestPlacesFollowTheProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	if got := loadshed.Places(); got != 384 {
		t.Errorf("%d places for three processors", got)
	}
}

// A place that is given back goes to whoever has waited longest.
func TestPlacesComeInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := full(t, 1)
		var mu sync.Mutex
		var entered []int
		for i := range 4 {
			go func() {
				if err := r.Enter(t.Context()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				entered = append(entered, i)
			}()
			synctest.Wait()
		}
		mustBe(t, r, loadshed.State{Running: 1, Waiting: 4})
		for i := range 4 {
			r.Leave()
			mustBe(t, r, loadshed.State{Running: 1, Waiting: 3 - i})
		}
		if !slices.Equal(entered, []int{0, 1, 2, 3}) {
			t.Errorf("they entered in the order %v", entered)
		}
		r.Leave()
		mustBe(t, r, loadshed.State{})
	})
}

// In a burst one waits for half a second. Once the queue has stood for a quarter of one, it is a moment; and half a
// second again once nobody has been sent away for a second, though not where the queue was empty for a moment.
func TestPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := full(t, 1)
		waits := func() time.Duration {
			began := time.Now()
			if err := r.Enter(t.Context()); !errors.Is(err, loadshed.ErrFull) {
				t.Errorf("waiting in vain: %v", err)
			}
			return time.Since(began)
		}
		mustTake := func(when string, want time.Duration) {
			t.Helper()
			if took := waits(); took != want {
				t.Errorf("%s it waited %v, want %v", when, took, want)
			}
		}
		pass := func(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the clock is the test's own
		mustTake("in a burst", 500*time.Millisecond)
		pass(time.Second)
		var others sync.WaitGroup
		others.Go(func() { _ = waits() })
		pass(249 * time.Millisecond)
		others.Go(func() { _ = waits() })
		pass(time.Millisecond)
		mustTake("in a queue that stands", 20*time.Millisecond)
		others.Wait()
		pass(700 * time.Millisecond)
		mustTake("in an empty queue soon after", 20*time.Millisecond)
		pass(time.Second)
		mustTake("long after", 500*time.Millisecond)
		mustBe(t, r, loadshed.State{Running: 1, Refused: 6})
	})
}

// A place that comes free goes to nobody who has waited for too long already, as a processor that is busy lets some do.
func TestNobodyIsServedLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := full(t, 1)
		late, soon := make(chan error, 1), make(chan error, 1)
		go func() { late <- r.Enter(t.Context()) }()
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // the clock is the test's own
		go func() { soon <- r.Enter(t.Context()) }()
		mustBe(t, r, loadshed.State{Running: 1, Waiting: 2})
		loadshed.Overdue(r)
		r.Leave()
		if err := <-late; !errors.Is(err, loadshed.ErrFull) {
			t.Errorf("whoever waited for too long: %v", err)
		}
		if err := <-soon; err != nil {
			t.Errorf("whoever comes after: %v", err)
		}
		mustBe(t, r, loadshed.State{Running: 1, Refused: 1})
	})
}

// Whoever is gone holds no place in the queue and counts as nobody refused.
func TestWhoeverIsGoneWaitsNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := full(t, 1)
		ctx, gone := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Enter(ctx) }()
		mustBe(t, r, loadshed.State{Running: 1, Waiting: 1})
		gone()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("gone: %v", err)
		}
		mustBe(t, r, loadshed.State{Running: 1})
		r.Leave()
		mustBe(t, r, loadshed.State{})
	})
}

// The queue is bounded too: beyond it everybody is sent away at once.
func TestTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := full(t, 2)
		for range 8 {
			go func() { _ = r.Enter(t.Context()) }()
		}
		mustBe(t, r, loadshed.State{Running: 2, Waiting: 8})
		began := time.Now()
		if err := r.Enter(t.Context()); !errors.Is(err, loadshed.ErrFull) || time.Since(began) != 0 {
			t.Errorf("beyond the queue: %v after %v", err, time.Since(began))
		}
		time.Sleep(time.Second) //nolint:forbidigo // the clock is the test's own
		mustBe(t, r, loadshed.State{Running: 2, Refused: 9})
	})
}

// However places and ends of patience meet, no place is lost and none is given twice.
func TestNoPlaceIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const places = 3
		r := loadshed.New(places)
		var mu sync.Mutex
		inside, most := 0, 0
		var all sync.WaitGroup
		for i := range 400 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond) //nolint:forbidigo // the clock is the test's own
				if r.Enter(t.Context()) != nil {
					return
				}
				mu.Lock()
				inside++
				most = max(most, inside)
				mu.Unlock()
				time.Sleep(20 * time.Millisecond) //nolint:forbidigo // as above; as long as short patience, so that they meet
				mu.Lock()
				inside--
				mu.Unlock()
				r.Leave()
			})
		}
		all.Wait()
		if most != places {
			t.Errorf("at most %d were inside, want %d", most, places)
		}
		if s := r.State(); s.Running != 0 || s.Waiting != 0 || s.Refused == 0 {
			t.Errorf("in the end the room stands %+v", s)
		}
	})
}

// Bursts that a wait of half a second serves are served soon again after a load that was too much for a moment.
func TestBurstsAfterALoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const places = 64
		r := loadshed.New(places)
		pass := func(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the clock is the test's own
		call := func(takes time.Duration) {
			if r.Enter(t.Context()) == nil {
				pass(takes)
				r.Leave()
			}
		}
		var all sync.WaitGroup
		bursts := func(n int) int64 { // of a fifth of what the room can serve
			before := r.State().Refused
			for range n {
				for range 250 {
					all.Go(func() { call(25 * time.Millisecond) })
				}
				pass(500 * time.Millisecond)
			}
			return r.State().Refused - before
		}
		if n := bursts(10); n != 0 {
			t.Errorf("%d were refused before", n)
		}
		for range places + 1 { // whatever they need stands still
			all.Go(func() { call(600 * time.Millisecond) })
		}
		pass(time.Second)
		bursts(4)
		if n := bursts(10); n != 0 {
			t.Errorf("%d were refused long after", n)
		}
		all.Wait()
	})
}
