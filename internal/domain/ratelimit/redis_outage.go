package ratelimit

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// outagePause is how long nobody asks a Redis that did not answer.
const outagePause = 3 * time.Second

// outage knows whether Redis answers: a circuit breaker that one asker at a time tries to close again.
type outage struct {
	now func() time.Time
	log *slog.Logger
	// turn grows by one when an outage begins and when it ends, so it is odd during one. What was asked in one turn
	// says nothing about a later one.
	turn atomic.Uint64

	mu     sync.Mutex
	since  time.Time // when the outage began
	next   time.Time // when Redis is to be asked again
	asking bool      // somebody asks it now
}

// away tells whether a turn is one of an outage.
func away(turn uint64) bool { return turn%2 == 1 }

// myTurn tells whether the caller shall ask whether Redis is back; whoever is told so says by answered or failed
// what came of it.
func (o *outage) myTurn() (uint64, bool) {
	if !away(o.turn.Load()) {
		return 0, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	turn := o.turn.Load()
	if !away(turn) || o.asking || o.now().Before(o.next) {
		return 0, false
	}
	o.asking = true
	return turn, true
}

// answered notes that Redis answered what was asked in a turn, which ends an outage.
func (o *outage) answered(ctx context.Context, turn uint64) {
	if !away(turn) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asking = false
	o.turn.Add(1)
	o.log.InfoContext(ctx, "Redis answers again: all nodes count rates together", "away", o.now().Sub(o.since).
		Round(time.Millisecond).String())
}

// failed notes that Redis did not answer what was asked in a turn, and tells whether an outage begins by that.
func (o *outage) failed(ctx context.Context, turn uint64, said string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.turn.Load() != turn {
		return false // it was asked before this outage, or before one that is over
	}
	o.next = o.now().Add(outagePause)
	if away(turn) {
		o.asking = false
		return false
	}
	o.since = o.now()
	o.turn.Add(1)
	o.log.WarnContext(ctx, "Redis does not answer: this node counts rates for itself until it does", "error", said)
	return true
}
