package loadshed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// The errors of FairLimiter.
var (
	ErrBusy     = errors.New("too many calls by this owner are waiting")
	ErrTooLarge = errors.New("the call needs more than the limit")
)

// maxWaiting is the maximum number of waiting calls per owner.
const maxWaiting = 32

// FairLimiter divides a resource, such as memory, among owners, such as teams. Waiting owners are served round-robin,
// and each owner's calls in order of arrival. While several owners wait, no owner gets more than half of the resource,
// except for a single call that needs more. The methods may be called concurrently.
type FairLimiter struct {
	limit int64

	mu          sync.Mutex
	free        int64
	heldByOwner map[int64]int64          // amount in use by owner
	queues      map[int64][]*waitingCall // waiting calls by owner
	order       []int64                  // waiting owners; the next one is first
}

// waitingCall is a call in a queue.
type waitingCall struct {
	amount  int64
	granted chan struct{} // closed once the amount is granted
}

// NewFairLimiter returns a FairLimiter for limit units of the resource.
func NewFairLimiter(limit int64) *FairLimiter {
	return &FairLimiter{limit: limit, free: limit, heldByOwner: map[int64]int64{}, queues: map[int64][]*waitingCall{}}
}

// Acquire waits for the owner's turn and acquires an amount. The caller must call Release with the same amount. The
// error is ErrTooLarge or ErrBusy, or wraps the context's error.
func (l *FairLimiter) Acquire(ctx context.Context, owner, amount int64) error {
	if amount > l.limit {
		return ErrTooLarge
	}
	call := &waitingCall{amount, make(chan struct{})}
	if !l.enqueue(owner, call) {
		return ErrBusy
	}
	select {
	case <-call.granted:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-call.granted: // the call was granted at the same time
		return nil
	default:
	}
	l.dequeue(owner, call)
	l.grant() // other calls may have been waiting for this call
	return fmt.Errorf("waiting for a turn: %w", context.Cause(ctx))
}

// enqueue adds a call to its owner's queue. It returns false if the queue is full.
func (l *FairLimiter) enqueue(owner int64, call *waitingCall) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queues[owner]
	if len(queue) >= maxWaiting {
		return false
	}
	if len(queue) == 0 {
		l.order = append(l.order, owner)
	}
	l.queues[owner] = append(queue, call)
	l.grant()
	return true
}

// dequeue removes a waiting call from its queue. The caller holds the lock.
func (l *FairLimiter) dequeue(owner int64, call *waitingCall) {
	at := slices.Index(l.queues[owner], call)
	l.queues[owner] = slices.Delete(l.queues[owner], at, at+1)
	if len(l.queues[owner]) == 0 {
		delete(l.queues, owner)
		at = slices.Index(l.order, owner)
		l.order = slices.Delete(l.order, at, at+1)
	}
}

// Release gives back an amount that the owner acquired.
func (l *FairLimiter) Release(owner, amount int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free += amount
	if l.heldByOwner[owner] -= amount; l.heldByOwner[owner] == 0 {
		delete(l.heldByOwner, owner)
	}
	l.grant()
}

// grant serves the waiting owners in turn until the next call does not fit. Other owners do not overtake that call, so
// that large calls are served too. The caller holds the lock.
func (l *FairLimiter) grant() {
	for index := 0; index < len(l.order); {
		owner := l.order[index]
		next := l.queues[owner][0]
		if len(l.order) > 1 && l.heldByOwner[owner] > 0 && l.heldByOwner[owner]+next.amount > l.limit/2 {
			index++ // the owner already has half, and keeps its place in the order
			continue
		}
		if next.amount > l.free {
			return
		}
		l.free -= next.amount
		l.heldByOwner[owner] += next.amount
		l.dequeue(owner, next)
		if len(l.queues[owner]) > 0 { // move the owner to the end
			index = slices.Index(l.order, owner)
			l.order = append(slices.Delete(l.order, index, index+1), owner)
		}
		close(next.granted)
		index = 0
	}
}
