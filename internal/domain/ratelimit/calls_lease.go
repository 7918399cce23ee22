package ratelimit

import (
	"sync"
	"sync/atomic"

	"pressroom.example/pressroom/internal/core/access"
)

// lease is a block of a team's free calls that one node may allow on one day. Times are microseconds since 1970.
type lease struct {
	since     int64 // start of the day
	until     int64 // end of the day
	remaining int64
	recheckAt int64  // when to query the database again if no calls were left, otherwise 0
	limit     int64  // the team's calls per day when the lease was taken
	zone      string // the team's time zone when the lease was taken
}

// covers reports whether the lease is valid for a call of this actor.
func (l lease) covers(now int64, actor *access.Actor) bool {
	return now < l.until && l.limit == actor.Daily.FreeCalls && l.zone == actor.Zone.String()
}

// accepts reports whether a call may be returned to the lease. since is the start of the call's day, and limit is the
// team's limit when the call was taken. If the limit has been lowered since then, the call is not returned.
func (l lease) accepts(since, limit int64) bool { return l.since == since && l.limit >= limit }

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

func (p *teamLease) unlock() { <-p.lock }

// take takes one call, or returns nil if none is left. It reports false if the caller must query the database.
func (p *teamLease) take(now int64, actor *access.Actor) (*freeCall, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.lease.covers(now, actor) {
		return nil, false
	}
	call := p.takeLocked()
	return call, call != nil || now < p.lease.recheckAt
}

// takeLocked takes a call from the lease, or returns nil if the lease is empty. The caller must hold p.mu.
func (p *teamLease) takeLocked() *freeCall {
	if p.lease.remaining == 0 {
		return nil
	}
	p.lease.remaining--
	return &freeCall{source: p, since: p.lease.since, limit: p.lease.limit}
}

// spend uses one call of the current day and reports whether there was one.
func (p *teamLease) spend(now int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now < p.lease.since || now >= p.lease.until || p.lease.remaining == 0 {
		return false
	}
	p.lease.remaining--
	return true
}

// drain empties the lease and returns its former value. If the caller cannot return the calls to the database, they are
// lost, but never used twice.
func (p *teamLease) drain() lease {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.lease
	p.lease.remaining = 0
	return old
}

// fill stores a new lease and takes the first call from it.
func (p *teamLease) fill(next lease) *freeCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	if next.accepts(p.lease.since, p.lease.limit) {
		next.remaining += p.lease.remaining // calls that were returned meanwhile
	}
	p.lease = next
	return p.takeLocked()
}

// remaining returns the number of calls left in the lease, or 0 if the lease is not for the day that starts at since.
func (p *teamLease) remaining(since int64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lease.since != since {
		return 0
	}
	return p.lease.remaining
}

func (p *teamLease) hasEnded(now int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lease.until <= now
}

// freeCall is a call that was taken from a lease.
type freeCall struct {
	source       *teamLease
	since, limit int64
	returned     atomic.Bool
}

// Return returns the call to the lease, unless the lease is now for another day or the team's limit has been lowered.
// Only the first Return has an effect.
func (f *freeCall) Return() {
	if f.returned.Swap(true) {
		return
	}
	f.source.mu.Lock()
	defer f.source.mu.Unlock()
	if f.source.lease.accepts(f.since, f.limit) {
		f.source.lease.remaining++
	}
}

// unlimitedCall is a call of a team that has no limit.
type unlimitedCall struct{}

// Return does nothing.
func (unlimitedCall) Return() {}
