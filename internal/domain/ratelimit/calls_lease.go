package ratelimit

import (
	"sync"
	"sync/atomic"

	"pressroom/internal/core/access"
)

// lease is calls of a team's day that one node may let through. Times are microseconds since 1970.
type lease struct {
	since    int64 // the day that they are counted in
	until    int64 // when that day ends
	left     int64
	askAgain int64  // with none left in the database: when to look there again
	limit    int64  // calls a day, as it was when they were taken
	zone     string // the team's, likewise
}

// holds tells whether the lease is good for a call of this actor.
func (l lease) holds(now int64, actor *access.Actor) bool {
	return now < l.until && l.limit == actor.Daily.FreeCalls && l.zone == actor.Zone.String()
}

// takes tells whether a call of that day, taken under that limit, may come back to the lease. A lowered limit
// makes the calls of before void.
func (l lease) takes(since, limit int64) bool { return l.since == since && l.limit >= limit }

// purse is what a node holds of a team's free calls.
type purse struct {
	turn    chan struct{} // full while somebody fetches a lease, drops the purse, or must see neither happen
	dropped bool          // no longer found; belongs to whoever has the turn

	mu    sync.Mutex
	lease lease
}

func newPurse() *purse { return &purse{turn: make(chan struct{}, 1)} }

func (p *purse) leave() { <-p.turn }

// take takes one call. False means that only the database knows; without a call it says that none is left.
func (p *purse) take(now int64, actor *access.Actor) (*freeCall, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.lease.holds(now, actor) {
		return nil, false
	}
	call := p.one()
	return call, call != nil || now < p.lease.askAgain
}

// one takes a call out of the lease, whose lock is held; nil where it is empty.
func (p *purse) one() *freeCall {
	if p.lease.left == 0 {
		return nil
	}
	p.lease.left--
	return &freeCall{purse: p, since: p.lease.since, limit: p.lease.limit}
}

// spend uses up one call of the day that it is; false where none is held.
func (p *purse) spend(now int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now < p.lease.since || now >= p.lease.until || p.lease.left == 0 {
		return false
	}
	p.lease.left--
	return true
}

// empty takes what is left out of the lease and gives the lease as it was. Should giving it back fail, it is lost
// and not handed out twice.
func (p *purse) empty() lease {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.lease
	p.lease.left = 0
	return old
}

// fill puts a new lease into the purse and takes the first call out of it.
func (p *purse) fill(fresh lease) *freeCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	if fresh.takes(p.lease.since, p.lease.limit) {
		fresh.left += p.lease.left // calls that came back meanwhile
	}
	p.lease = fresh
	return p.one()
}

// held is how many calls of a day are in the lease.
func (p *purse) held(since int64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lease.since != since {
		return 0
	}
	return p.lease.left
}

func (p *purse) ended(now int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lease.until <= now
}

// freeCall is one call that was taken out of a lease.
type freeCall struct {
	purse        *purse
	since, limit int64
	back         atomic.Bool
}

// Return gives the call back, unless its day is over: no other day gets it. Only the first time counts.
func (f *freeCall) Return() {
	if f.back.Swap(true) {
		return
	}
	f.purse.mu.Lock()
	defer f.purse.mu.Unlock()
	if f.purse.lease.takes(f.since, f.limit) {
		f.purse.lease.left++
	}
}

// uncounted is a call of a team that has any number of them.
type uncounted struct{}

// Return does nothing: nothing was taken.
func (uncounted) Return() {}
