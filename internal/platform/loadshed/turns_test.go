package loadshed

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"pressroom/internal/testkit/must"
)

// office is turns with a list of who was served, in order.
type office struct {
	*Turns

	mu     sync.Mutex
	served []int64
	all    sync.WaitGroup
}

// ask begins a call, which holds its memory until it is told to end.
func (o *office) ask(ctx context.Context, t *testing.T, share, bytes int64, end <-chan struct{}) {
	t.Helper()
	o.all.Go(func() {
		if err := o.Acquire(ctx, share, bytes); err != nil {
			t.Errorf("share %d: %v", share, err)
			return
		}
		o.mu.Lock()
		o.served = append(o.served, share)
		o.mu.Unlock()
		<-end
		o.Release(share, bytes)
	})
	synctest.Wait()
}

// A backlog of one share delays another by the picture that is being made, not by the backlog.
func TestSharesTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, end := &office{Turns: NewTurns(100)}, make(chan struct{})
		for range 20 {
			o.ask(t.Context(), t, 1, 80, end)
		}
		o.ask(t.Context(), t, 2, 80, end)
		o.ask(t.Context(), t, 3, 30, end) // does not fit beside the one before
		for range 22 {
			end <- struct{}{}
			synctest.Wait()
		}
		o.all.Wait()
		if !slices.Equal(o.served[:5], []int64{1, 1, 2, 3, 1}) {
			t.Errorf("they were served in the order %v", o.served)
		}
		if o.free != 100 || len(o.held)+len(o.lines)+len(o.order) != 0 {
			t.Errorf("in the end there is %+v", o.Turns)
		}
	})
}

// While others wait a share gets half of the memory; alone it gets all of it.
func TestHalfOfTheMemoryWhileOthersWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, end, endOther := &office{Turns: NewTurns(100)}, make(chan struct{}), make(chan struct{})
		for range 6 {
			o.ask(t.Context(), t, 1, 25, end)
		}
		if !slices.Equal(o.served, []int64{1, 1, 1, 1}) {
			t.Fatalf("alone it is served %v", o.served)
		}
		for range 3 {
			o.ask(t.Context(), t, 2, 25, endOther)
		}
		for range 2 { // memory that comes free goes to the other until both have half
			end <- struct{}{}
			synctest.Wait()
		}
		if !slices.Equal(o.served, []int64{1, 1, 1, 1, 2, 2}) {
			t.Errorf("beside another they are served %v", o.served)
		}
		close(end)
		close(endOther)
		o.all.Wait()
	})
}

// A share whose line is full is refused at once, others are not; who leaves makes room.
func TestALineIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(100)
		must.NoError(t, turns.Acquire(t.Context(), 1, 100))
		ctx, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range maxWaiting {
			all.Go(func() {
				if err := turns.Acquire(ctx, 1, 10); !errors.Is(err, context.Canceled) {
					t.Errorf("who left was told %v", err)
				}
			})
		}
		synctest.Wait()
		if err := turns.Acquire(t.Context(), 1, 10); !errors.Is(err, ErrBusy) {
			t.Errorf("beyond the line: %v", err)
		}
		if err := turns.Acquire(t.Context(), 2, 101); !errors.Is(err, ErrTooMuch) {
			t.Errorf("too large: %v", err)
		}
		leave()
		all.Wait()
		turns.Release(1, 100)
		if err := turns.Acquire(t.Context(), 2, 100); err != nil || len(turns.lines)+len(turns.order) != 0 {
			t.Errorf("after all have left: %v, %+v", err, turns)
		}
	})
}
