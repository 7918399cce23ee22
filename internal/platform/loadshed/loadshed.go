// Package loadshed limits concurrent work. A Limiter makes calls beyond its limit wait in a short queue and then
// rejects them. An overloaded node therefore keeps its throughput and latency, and rejects excess calls quickly.
package loadshed

import (
	"container/list"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"
)

// ErrFull is the error of a call that waited too long, or found the queue full.
var ErrFull = errors.New("too many concurrent calls")

const (
	perProcessor = 128 // concurrent calls per processor; most of them wait for the database or the network
	queueFactor  = 4   // maximum number of waiting calls per running call; waiting calls use memory

	burstWait = 500 * time.Millisecond // maximum wait in a burst
	// A queue that has not been empty for this time is a standing queue, not a burst. Long waits in a standing queue
	// only add delay. See Nichols and Jacobson, Controlling Queue Delay (2012).
	standingQueue = 250 * time.Millisecond
	overloadWait  = 20 * time.Millisecond
	// An overload ends when no call has been rejected from a standing queue for this time. If it ended as soon as the
	// queue is empty, long waits would fill the queue again. Rejections during a burst do not count, because they would
	// prolong the overload.
	overloadCooldown = time.Second

	maxRetryAfter = 3 // seconds
)

// DefaultLimit returns the default number of concurrent calls, which depends on the number of processors.
func DefaultLimit() int { return perProcessor * runtime.GOMAXPROCS(0) }

// Limiter limits the number of concurrent calls. Its methods may be called concurrently.
type Limiter struct {
	limit int

	mu            sync.Mutex
	running       int
	waiting       list.List // waiter values; the one that has waited longest is at the front
	busySince     time.Time // when the queue last changed from empty to waiting
	lastRejection time.Time // when a call was last rejected from a standing queue
	rejected      int64
}

// waiter is a call in the queue. Its channel receives true when its turn comes, or false if it has timed out.
type waiter struct {
	turn  chan bool
	until time.Time
}

// New returns a Limiter that allows limit concurrent calls, or one call if limit is lower.
func New(limit int) *Limiter { return &Limiter{limit: max(1, limit)} }

// Limit returns the maximum number of concurrent calls.
func (r *Limiter) Limit() int { return r.limit }

// Acquire begins a call. If it returns nil, the caller must call Release. Calls wait in order of arrival. Acquire
// returns ErrFull if the queue is full or the wait is too long, or the context's error if the context ends first.
func (r *Limiter) Acquire(ctx context.Context) error {
	r.mu.Lock()
	if r.running < r.limit {
		r.running++
		r.mu.Unlock()
		return nil
	}
	now := time.Now()
	if r.waiting.Len() >= queueFactor*r.limit {
		r.reject(now)
		r.mu.Unlock()
		return ErrFull
	}
	if r.waiting.Len() == 0 {
		r.busySince = now
	}
	w := waiter{make(chan bool, 1), now.Add(r.maxWait(now))}
	turn := r.waiting.PushBack(w)
	r.mu.Unlock()
	return r.await(ctx, turn, w)
}

func (r *Limiter) maxWait(now time.Time) time.Duration {
	if now.Sub(r.busySince) >= standingQueue || now.Sub(r.lastRejection) < overloadCooldown {
		return overloadWait
	}
	return burstWait
}

// reject counts a rejection. The caller holds the lock.
func (r *Limiter) reject(now time.Time) {
	r.rejected++
	if now.Sub(r.busySince) >= standingQueue {
		r.lastRejection = now
	}
}

func (r *Limiter) await(ctx context.Context, turn *list.Element, w waiter) error {
	timer := time.NewTimer(time.Until(w.until))
	defer timer.Stop()
	err := ErrFull
	select {
	case acquired := <-w.turn:
		return turnError(acquired)
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case acquired := <-w.turn: // the call was granted at the same time
		return turnError(acquired)
	default:
	}
	r.waiting.Remove(turn)
	if errors.Is(err, ErrFull) {
		r.reject(time.Now())
	}
	return err
}

func turnError(acquired bool) error {
	if acquired {
		return nil
	}
	return ErrFull
}

// Release ends a call and begins the call that has waited longest. It skips calls that have timed out even if their
// timer has not fired, because serving these would delay other calls.
func (r *Limiter) Release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for first := r.waiting.Front(); first != nil; first = r.waiting.Front() {
		w := r.waiting.Remove(first).(waiter) //nolint:forcetypeassert // the list has only waiters
		now := time.Now()
		if !now.After(w.until) {
			w.turn <- true
			return
		}
		r.reject(now)
		w.turn <- false
	}
	r.running--
}

// RetryAfter returns the time after which a rejected client may try again, with jitter so that clients do not retry at
// the same time.
func RetryAfter() time.Duration {
	return time.Second * time.Duration(1+rand.IntN(maxRetryAfter)) //nolint:gosec // it need not be unpredictable
}

// State is the state of a Limiter.
type State struct {
	Running, Waiting int
	Rejected         int64 // total since the start
}

// State returns the current state.
func (r *Limiter) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return State{Running: r.running, Waiting: r.waiting.Len(), Rejected: r.rejected}
}

// Limiters are the limiters of a node. Uploads have a separate limiter, so that slow senders do not block fast calls.
type Limiters struct {
	Calls   *Limiter // API and MCP
	Pages   *Limiter // the app
	Uploads *Limiter // file uploads
}

// NewLimiters returns limiters for limit calls each. If limit is 0, DefaultLimit is used.
func NewLimiters(limit int) Limiters {
	if limit == 0 {
		limit = DefaultLimit()
	}
	return Limiters{New(limit), New(limit), New(limit)}
}
