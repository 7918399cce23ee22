package picture

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrBusy is returned if too many calls of the same share wait for memory already.
var ErrBusy = errors.New("too many pictures of this share wait for memory")

// maxWaiting is how many calls of one share may wait.
const maxWaiting = 32

// turns divides memory among shares. Shares that wait are served in turn, each in the order of its calls. While several
// wait none gets more than half of the memory, except for a single picture that needs more.
type turns struct {
	limit int64 // bytes

	mu    sync.Mutex
	free  int64             // bytes
	held  map[int64]int64   // bytes by share
	lines map[int64][]*turn // who waits, by share
	order []int64           // the shares that wait, the next one first
}

// turn is a call that waits.
type turn struct {
	bytes   int64
	granted chan struct{} // closed once the memory is the call's
}

func newTurns(limit int64) *turns {
	return &turns{limit: limit, free: limit, held: map[int64]int64{}, lines: map[int64][]*turn{}}
}

// acquire waits until the share has its turn. The errors are ErrTooLarge, ErrBusy and the context's.
func (t *turns) acquire(ctx context.Context, share, bytes int64) error {
	if bytes > t.limit {
		return ErrTooLarge
	}
	me := &turn{bytes, make(chan struct{})}
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
	return fmt.Errorf("waiting for memory: %w", context.Cause(ctx))
}

// join puts a call in its share's line. It reports false if the line is full.
func (t *turns) join(share int64, me *turn) bool {
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
func (t *turns) quit(share int64, me *turn) {
	at := slices.Index(t.lines[share], me)
	t.lines[share] = slices.Delete(t.lines[share], at, at+1)
	if len(t.lines[share]) == 0 {
		delete(t.lines, share)
		at = slices.Index(t.order, share)
		t.order = slices.Delete(t.order, at, at+1)
	}
}

// release gives memory back.
func (t *turns) release(share, bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free += bytes
	if t.held[share] -= bytes; t.held[share] == 0 {
		delete(t.held, share)
	}
	t.grant()
}

// grant serves the shares that wait, in turn, until the next one has to wait for memory: nobody overtakes it, else a large
// picture would never get any. The caller holds the lock.
func (t *turns) grant() {
	for at := 0; at < len(t.order); {
		share := t.order[at]
		next := t.lines[share][0]
		if len(t.order) > 1 && t.held[share] > 0 && t.held[share]+next.bytes > t.limit/2 {
			at++ // it has had its part, and keeps its turn
			continue
		}
		if next.bytes > t.free {
			return
		}
		t.free -= next.bytes
		t.held[share] += next.bytes
		t.quit(share, next)
		if len(t.lines[share]) > 0 { // it goes to the end
			at = slices.Index(t.order, share)
			t.order = append(slices.Delete(t.order, at, at+1), share)
		}
		close(next.granted)
		at = 0
	}
}
