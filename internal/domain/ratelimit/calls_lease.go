package ratelimit

import (
	"sync"
	"sync/atomic"

	"pressroom.example/pressroom/internal/core/access"
)

// lease is a block of a team's free calls that one node may allow on one day. Times are microseconds since 1970.
type lease struct {
	dayStart  int64 // start of the day
	dayEnd    int64 // end of the day
	remaining int64
	recheckAt int64  // when to query the database again if no calls were left, otherwise 0
	limit     int64  // the team's calls per day when the lease was taken
	zone      string // the team's time zone when the lease was taken
}

// covers reports whether the lease is valid for a call of this actor.
func (l lease) covers(now int64, actor *access.Actor) bool {
	return now < l.dayEnd && l.limit == actor.Daily.FreeCalls && l.zone == actor.Zone.String()
}

// accepts reports whether a call may be returned to the lease. dayStart is the start of the call's day, and limit is
// the team's limit when the call was taken. If the limit has been lowered since then, the call is not returned.
func (l lease) accepts(dayStart, limit int64) bool { return l.dayStart == dayStart && l.limit >= limit }

// teamLease holds a team's lease on this node.
type teamLease struct {
	// lock is a mutex that supports cancellation. A goroutine holds it while it fetches or drops the lease, or while
	// the lease must not change.
	lock    chan struct{}
	dropped bool // removed from the map; guarded by lock

	mu    sync.Mutex
	lease lease
}

func newTeamLease() *teamLease { return &teamLease{lock: make(chan struct{}, 1)} }

func (t *teamLease) unlock() { <-t.lock }

// take takes one call, or returns nil if none is left. It reports false if the caller must query the database.
func (t *teamLease) take(now int64, actor *access.Actor) (*freeCall, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.lease.covers(now, actor) {
		return nil, false
	}
	call := t.takeLocked()
	return call, call != nil || now < t.lease.recheckAt
}

// takeLocked takes a call from the lease, or returns nil if the lease is empty. The caller must hold t.mu.
func (t *teamLease) takeLocked() *freeCall {
	if t.lease.remaining == 0 {
		return nil
	}
	t.lease.remaining--
	return &freeCall{source: t, dayStart: t.lease.dayStart, limit: t.lease.limit}
}

// spend uses one call of the current day and reports whether there was one.
func (t *teamLease) spend(now int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now < t.lease.dayStart || now >= t.lease.dayEnd || t.lease.remaining == 0 {
		return false
	}
	t.lease.remaining--
	return true
}

// drain empties the lease and returns its former value. If the caller cannot return the calls to the database, they are
// lost, but never used twice.
func (t *teamLease) drain() lease {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.lease
	t.lease.remaining = 0
	return old
}

// fill stores a new lease and takes the first call from it.
func (t *teamLease) fill(next lease) *freeCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	if next.accepts(t.lease.dayStart, t.lease.limit) {
		next.remaining += t.lease.remaining // calls that were returned meanwhile
	}
	t.lease = next
	return t.takeLocked()
}

// remaining returns the number of calls left in the lease, or 0 if the lease is not for the day that starts at
// dayStart.
func (t *teamLease) remaining(dayStart int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lease.dayStart != dayStart {
		return 0
	}
	return t.lease.remaining
}

func (t *teamLease) hasEnded(now int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lease.dayEnd <= now
}

// freeCall is a call that was taken from a lease.
type freeCall struct {
	source          *teamLease
	dayStart, limit int64
	returned        atomic.Bool
}

// Return returns the call to the lease, unless the lease is now for another day or the team's limit has been lowered.
// Only the first Return has an effect.
func (f *freeCall) Return() {
	if f.returned.Swap(true) {
		return
	}
	f.source.mu.Lock()
	defer f.source.mu.Unlock()
	if f.source.lease.accepts(f.dayStart, f.limit) {
		f.source.lease.remaining++
	}
}

// unlimitedCall is a call of a team that has no limit.
type unlimitedCall struct{}

// Return does nothing.
func (unlimitedCall) Return() {}
