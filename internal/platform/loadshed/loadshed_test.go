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

	"pressroom.example/pressroom/internal/platform/loadshed"
)

// full returns a limiter at its limit.
func full(t *testing.T, slots int) *loadshed.Limiter {
	t.Helper()
	r := loadshed.New(slots)
	for range slots {
		must(t, r.Acquire(t.Context()))
	}
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantState checks the state of a limiter once all goroutines are blocked.
func wantState(t *testing.T, r *loadshed.Limiter, want loadshed.State) {
	t.Helper()
	synctest.Wait()
	if got := r.State(); got != want {
		t.Errorf("state %+v, want %+v", got, want)
	}
}

func TestDefaultLimit(t *testing.T) {
	before := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	if got := loadshed.DefaultLimit(); got != 384 {
		t.Errorf("limit %d for three processors", got)
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := full(t, 1)
		var mu sync.Mutex
		var entered []int
		for i := range 4 {
			go func() {
				if err := r.Acquire(t.Context()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				entered = append(entered, i)
			}()
			synctest.Wait()
		}
		wantState(t, r, loadshed.State{Running: 1, Waiting: 4})
		for i := range 4 {
			r.Release()
			wantState(t, r, loadshed.State{Running: 1, Waiting: 3 - i})
		}
		if !slices.Equal(entered, []int{0, 1, 2, 3}) {
			t.Errorf("acquired in the order %v", entered)
		}
		r.Release()
		wantState(t, r, loadshed.State{})
	})
}

// TestMaxWait checks that calls wait up to half a second in a burst. In a standing queue, they wait only a moment until
// no call has been rejected for a second.
func TestMaxWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := full(t, 1)
		waits := func() time.Duration {
			began := time.Now()
			if err := r.Acquire(t.Context()); !errors.Is(err, loadshed.ErrFull) {
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
		mustTake("with a full queue", 20*time.Millisecond)
		others.Wait()
		pass(700 * time.Millisecond)
		mustTake("soon after, with an empty queue", 20*time.Millisecond)
		pass(time.Second)
		mustTake("long after", 500*time.Millisecond)
		wantState(t, r, loadshed.State{Running: 1, Rejected: 6})
	})
}

// TestLateCallsRejected checks that a released slot is not given to a call that has timed out.
func TestLateCallsRejected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := full(t, 1)
		late, soon := make(chan error, 1), make(chan error, 1)
		go func() { late <- r.Acquire(t.Context()) }()
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // the clock is the test's own
		go func() { soon <- r.Acquire(t.Context()) }()
		wantState(t, r, loadshed.State{Running: 1, Waiting: 2})
		loadshed.ExpireFirst(r)
		r.Release()
		if err := <-late; !errors.Is(err, loadshed.ErrFull) {
			t.Errorf("the late call: %v", err)
		}
		if err := <-soon; err != nil {
			t.Errorf("the next call: %v", err)
		}
		wantState(t, r, loadshed.State{Running: 1, Rejected: 1})
	})
}

// TestCanceledCalls checks that a canceled call leaves the queue and does not count as rejected.
func TestCanceledCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := full(t, 1)
		ctx, gone := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Acquire(ctx) }()
		wantState(t, r, loadshed.State{Running: 1, Waiting: 1})
		gone()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("gone: %v", err)
		}
		wantState(t, r, loadshed.State{Running: 1})
		r.Release()
		wantState(t, r, loadshed.State{})
	})
}

// TestQueueLimit checks that calls beyond the queue are rejected immediately.
func TestQueueLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := full(t, 2)
		for range 8 {
			go func() { _ = r.Acquire(t.Context()) }()
		}
		wantState(t, r, loadshed.State{Running: 2, Waiting: 8})
		began := time.Now()
		if err := r.Acquire(t.Context()); !errors.Is(err, loadshed.ErrFull) || time.Since(began) != 0 {
			t.Errorf("beyond the queue: %v after %v", err, time.Since(began))
		}
		time.Sleep(time.Second) //nolint:forbidigo // the clock is the test's own
		wantState(t, r, loadshed.State{Running: 2, Rejected: 9})
	})
}

// TestConcurrentTimeoutsAndReleases checks that no slot is lost or used twice when timeouts and releases coincide.
func TestConcurrentTimeoutsAndReleases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const slots = 3
		r := loadshed.New(slots)
		var mu sync.Mutex
		inside, most := 0, 0
		var all sync.WaitGroup
		for i := range 400 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond) //nolint:forbidigo // the clock is the test's own
				if r.Acquire(t.Context()) != nil {
					return
				}
				mu.Lock()
				inside++
				most = max(most, inside)
				mu.Unlock()
				// The duration equals overloadWait, so that timeouts and releases coincide.
				time.Sleep(20 * time.Millisecond) //nolint:forbidigo // as above
				mu.Lock()
				inside--
				mu.Unlock()
				r.Release()
			})
		}
		all.Wait()
		if most != slots {
			t.Errorf("at most %d held a slot, want %d", most, slots)
		}
		if s := r.State(); s.Running != 0 || s.Waiting != 0 || s.Rejected == 0 {
			t.Errorf("at the end the state is %+v", s)
		}
	})
}

// TestBurstsAfterOverload checks that bursts are served again soon after an overload.
func TestBurstsAfterOverload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const slots = 64
		r := loadshed.New(slots)
		pass := func(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the clock is the test's own
		call := func(takes time.Duration) {
			if r.Acquire(t.Context()) == nil {
				pass(takes)
				r.Release()
			}
		}
		var all sync.WaitGroup
		bursts := func(n int) int64 { // bursts of a fifth of the capacity
			before := r.State().Rejected
			for range n {
				for range 250 {
					all.Go(func() { call(25 * time.Millisecond) })
				}
				pass(500 * time.Millisecond)
			}
			return r.State().Rejected - before
		}
		if n := bursts(10); n != 0 {
			t.Errorf("%d were rejected before", n)
		}
		for range slots + 1 { // a dependency hangs
			all.Go(func() { call(600 * time.Millisecond) })
		}
		pass(time.Second)
		bursts(4)
		if n := bursts(10); n != 0 {
			t.Errorf("%d were rejected long after", n)
		}
		all.Wait()
	})
}
