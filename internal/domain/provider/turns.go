package provider

import (
	"context"
	"time"
)

// Turns lets one at a time on a node work out what sources answered, and after each rests for as long as that took: many
// reports and searches at once leave processors to the requests. Whoever waits for a source has no turn. The zero value
// is not ready; a nil one lets everybody work.
type Turns struct {
	free chan struct{}
	rest func(worked time.Duration) time.Duration
}

// longestRest is how long at most nobody works after somebody did.
const longestRest = 100 * time.Millisecond

// NewTurns makes them.
func NewTurns() *Turns {
	t := &Turns{free: make(chan struct{}, 1), rest: func(worked time.Duration) time.Duration { return min(worked, longestRest) }}
	t.free <- struct{}{}
	return t
}

type turnKey struct{}

// turn is the part of one piece of work. Its own goroutine alone uses it.
type turn struct {
	of    *Turns
	since time.Time // when it began to work; zero while it waits
}

// Begin begins a piece of work, which has no turn yet: the functions below take it and give it back, by the context. The
// function that it gives back ends the work; whoever holds a lock that others with a turn wait for must not take one.
func (t *Turns) Begin(ctx context.Context) (context.Context, func()) {
	if t == nil {
		return ctx, func() {}
	}
	own := &turn{of: t}
	return context.WithValue(ctx, turnKey{}, own), own.leave
}

// Aside is a context whose work needs no turn, for what is asked while others wait: the turn of ctx is given back.
func Aside(ctx context.Context) context.Context {
	Waiting(ctx)
	return context.WithValue(ctx, turnKey{}, (*turn)(nil))
}

// Waiting says that the work of a context waits for a source: others may work.
func Waiting(ctx context.Context) {
	if own, _ := ctx.Value(turnKey{}).(*turn); own != nil {
		own.leave()
	}
}

// Working says that the work of a context goes on, once it is its turn; an error is the context's.
func Working(ctx context.Context) error {
	if own, _ := ctx.Value(turnKey{}).(*turn); own != nil {
		return own.take(ctx)
	}
	return nil
}

func (u *turn) take(ctx context.Context) error {
	if !u.since.IsZero() {
		return nil
	}
	select {
	case <-u.of.free:
		u.since = time.Now()
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (u *turn) leave() {
	if u.since.IsZero() {
		return
	}
	worked := time.Since(u.since)
	u.since = time.Time{}
	time.AfterFunc(u.of.rest(worked), func() { u.of.free <- struct{}{} })
}
