package loadshed

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// recordingLimiter is a limiter that records the order of served owners.
type recordingLimiter struct {
	*FairLimiter

	mu     sync.Mutex
	served []int64
	all    sync.WaitGroup
}

// begin begins a call that uses its memory until end.
func (o *recordingLimiter) begin(ctx context.Context, t *testing.T, owner, bytes int64, end <-chan struct{}) {
	t.Helper()
	o.all.Go(func() {
		if err := o.Acquire(ctx, owner, bytes); err != nil {
			t.Errorf("owner %d: %v", owner, err)
			return
		}
		o.mu.Lock()
		o.served = append(o.served, owner)
		o.mu.Unlock()
		<-end
		o.Release(owner, bytes)
	})
	synctest.Wait()
}

// TestOwnersTakeTurns checks that one owner's backlog delays other owners only by the running call.
func TestOwnersTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, end := &recordingLimiter{FairLimiter: NewFairLimiter(100)}, make(chan struct{})
		for range 20 {
			o.begin(t.Context(), t, 1, 80, end)
		}
		o.begin(t.Context(), t, 2, 80, end)
		o.begin(t.Context(), t, 3, 30, end) // does not fit while the previous call runs
		for range 22 {
			end <- struct{}{}
			synctest.Wait()
		}
		o.all.Wait()
		if !slices.Equal(o.served[:5], []int64{1, 1, 2, 3, 1}) {
			t.Errorf("the owners were served in the order %v", o.served)
		}
		if o.free != 100 || len(o.heldByOwner)+len(o.queues)+len(o.order) != 0 {
			t.Errorf("the final state is %+v", o.FairLimiter)
		}
	})
}

// TestOwnerLimitWhileOthersWait checks that an owner gets at most half while other owners wait, and everything
// otherwise.
func TestOwnerLimitWhileOthersWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, end, endOther := &recordingLimiter{FairLimiter: NewFairLimiter(100)}, make(chan struct{}), make(chan struct{})
		for range 6 {
			o.begin(t.Context(), t, 1, 25, end)
		}
		if !slices.Equal(o.served, []int64{1, 1, 1, 1}) {
			t.Fatalf("without other owners, served %v", o.served)
		}
		for range 3 {
			o.begin(t.Context(), t, 2, 25, endOther)
		}
		for range 2 { // released memory goes to the other owner until both have half
			end <- struct{}{}
			synctest.Wait()
		}
		if !slices.Equal(o.served, []int64{1, 1, 1, 1, 2, 2}) {
			t.Errorf("with another owner, served %v", o.served)
		}
		close(end)
		close(endOther)
		o.all.Wait()
	})
}

// TestQueueLimit checks that only an owner whose queue is full is rejected, and that canceled calls leave the queue.
func TestQueueLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := NewFairLimiter(100)
		if err := turns.Acquire(t.Context(), 1, 100); err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range maxWaiting {
			all.Go(func() {
				if err := turns.Acquire(ctx, 1, 10); !errors.Is(err, context.Canceled) {
					t.Errorf("a canceled call: %v", err)
				}
			})
		}
		synctest.Wait()
		if err := turns.Acquire(t.Context(), 1, 10); !errors.Is(err, ErrBusy) {
			t.Errorf("beyond the queue: %v", err)
		}
		if err := turns.Acquire(t.Context(), 2, 101); !errors.Is(err, ErrTooLarge) {
			t.Errorf("too large: %v", err)
		}
		leave()
		all.Wait()
		turns.Release(1, 100)
		if err := turns.Acquire(t.Context(), 2, 100); err != nil || len(turns.queues)+len(turns.order) != 0 {
			t.Errorf("after all have left: %v, %+v", err, turns)
		}
	})
}
