package provider

import (
	"context"
	"time"
)

// Limiter lets one goroutine per node process provider responses at a time. After each response, it pauses for as long
// as the processing took, but at most for maxPause, so that reports and searches leave CPU time for requests.
// Goroutines that wait for a provider do not hold a slot. The zero value is not usable. A nil Limiter does not limit.
type Limiter struct {
	slots      chan struct{}
	pauseAfter func(worked time.Duration) time.Duration
}

// maxPause is the longest pause after processing.
const maxPause = 100 * time.Millisecond

// NewLimiter returns a Limiter.
func NewLimiter() *Limiter {
	l := &Limiter{slots: make(chan struct{}, 1), pauseAfter: func(worked time.Duration) time.Duration {
		return min(worked, maxPause)
	}}
	l.slots <- struct{}{}
	return l
}

type slotKey struct{}

// slot is the state of one unit of work. Only the goroutine that does the work may use it.
type slot struct {
	limiter   *Limiter
	startedAt time.Time // when it was acquired; zero while released
}

// Begin starts a unit of work without a slot. Acquire and Release use the returned context. The returned function ends
// the work. Do not acquire a slot while holding a lock that another holder of a slot may wait for.
func (l *Limiter) Begin(ctx context.Context) (context.Context, func()) {
	if l == nil {
		return ctx, func() {}
	}
	s := &slot{limiter: l}
	return context.WithValue(ctx, slotKey{}, s), s.release
}

// WithoutSlot releases the slot of ctx and returns a context that needs no slot. It is for requests that other
// goroutines wait for.
func WithoutSlot(ctx context.Context) context.Context {
	Release(ctx)
	return context.WithValue(ctx, slotKey{}, (*slot)(nil))
}

// Release releases the slot of a context, if it has one. Call it before waiting for a provider.
func Release(ctx context.Context) {
	if s, _ := ctx.Value(slotKey{}).(*slot); s != nil {
		s.release()
	}
}

// Acquire waits for a slot, unless the context has one or needs none. It returns the cause of the context if the
// context is done first.
func Acquire(ctx context.Context) error {
	if s, _ := ctx.Value(slotKey{}).(*slot); s != nil {
		return s.acquire(ctx)
	}
	return nil
}

func (s *slot) acquire(ctx context.Context) error {
	if !s.startedAt.IsZero() {
		return nil
	}
	select {
	case <-s.limiter.slots:
		s.startedAt = time.Now()
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *slot) release() {
	if s.startedAt.IsZero() {
		return
	}
	worked := time.Since(s.startedAt)
	s.startedAt = time.Time{}
	time.AfterFunc(s.limiter.pauseAfter(worked), func() { s.limiter.slots <- struct{}{} })
}
