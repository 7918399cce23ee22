package loadshed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// The errors of Turns.
var (
	ErrBusy    = errors.New("too many calls of this share wait already")
	ErrTooMuch = errors.New("the call needs more than there is")
)

// maxWaiting is how many calls of one share may wait.
const maxWaiting = 32

// Turns divides something of which there is so much, such as memory or workers, among shares, such as teams. Shares
// that wait are served in turn, each in the order of its calls. While several wait none gets more than half, except
// for a single call that needs more. The methods may be called at the same time.
type Turns struct {
	limit int64

	mu    sync.Mutex
	free  int64
	held  map[int64]int64   // by share
	lines map[int64][]*turn // who waits, by share
	order []int64           // the shares that wait, the next one first
}

// turn is a call that waits.
type turn struct {
	amount  int64
	granted chan struct{} // closed once the amount is the call's
}

// NewTurns returns Turns of that limit.
func NewTurns(limit int64) *Turns {
	return &Turns{limit: limit, free: limit, held: map[int64]int64{}, lines: map[int64][]*turn{}}
}

// Acquire waits until the share has its turn, and takes an amount, which Release gives back. The errors are ErrTooMuch,
// ErrBusy and the context's.
func (t *Turns) Acquire(ctx context.Context, share, amount int64) error {
	if amount > t.limit {
		return ErrTooMuch
	}
	me := &turn{amount, make(chan struct{})}
	if !t.join(share, me) {
		return ErrBusy
	}
	select {
	case <-me.granted:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-me.granted: // at the same moment
		return nil
	default:
	}
	t.quit(share, me)
	t.grant() // others may have waited behind it
	return fmt.Errorf("waiting for a turn: %w", context.Cause(ctx))
}

// join puts a call in its share's line. It reports false if the line is full.
func (t *Turns) join(share int64, me *turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := t.lines[share]
	if len(line) >= maxWaiting {
		return false
	}
	if len(line) == 0 {
		t.order = append(t.order, share)
	}
	t.lines[share] = append(line, me)
	t.grant()
	return true
}

// quit takes a call that has not been granted out of its line. The caller holds the lock.
func (t *Turns) quit(share int64, me *turn) {
	at := slices.Index(t.lines[share], me)
	t.lines[share] = slices.Delete(t.lines[share], at, at+1)
	if len(t.lines[share]) == 0 {
		delete(t.lines, share)
		at = slices.Index(t.order, share)
		t.order = slices.Delete(t.order, at, at+1)
	}
}

// Release gives back what Acquire took.
func (t *Turns) Release(share, amount int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free += amount
	if t.held[share] -= amount; t.held[share] == 0 {
		delete(t.held, share)
	}
	t.grant()
}

// grant serves the shares that wait, in turn, until the next one has to wait: nobody overtakes it, else a call that
// needs much would never be served. The caller holds the lock.
func (t *Turns) grant() {
	for at := 0; at < len(t.order); {
		share := t.order[at]
		next := t.lines[share][0]
		if len(t.order) > 1 && t.held[share] > 0 && t.held[share]+next.amount > t.limit/2 {
			at++ // it has had its part, and keeps its turn
			continue
		}
		if next.amount > t.free {
			return
		}
		t.free -= next.amount
		t.held[share] += next.amount
		t.quit(share, next)
		if len(t.lines[share]) > 0 { // it goes to the end
			at = slices.Index(t.order, share)
			t.order = append(slices.Delete(t.order, at, at+1), share)
		}
		close(next.granted)
		at = 0
	}
}
