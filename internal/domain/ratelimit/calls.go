package ratelimit

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/platform/db"
)

// FreeCalls manages every team's daily allowance of free calls. The database counts the calls that each team has used
// on its current day. A node leases several calls at once and counts their use in memory, so that most calls do not
// query the database. If a node crashes, the unused calls of its leases are lost, but no call is used twice.
type FreeCalls struct {
	db         *db.DB
	leases     sync.Map     // team ID -> *teamLease
	leaseCount atomic.Int64 // number of leases
	sweepAt    atomic.Int64 // number of leases above which ended leases are dropped
	sweeping   sync.Mutex
}

var _ pipeline.FreeCalls = (*FreeCalls)(nil)

// NewFreeCalls returns a FreeCalls.
func NewFreeCalls(d *db.DB) *FreeCalls {
	c := &FreeCalls{db: d}
	c.sweepAt.Store(sweepFrom)
	return c
}

const fetchTimeout = 5 * time.Second // for fetching a lease

// Take uses one call of the team's daily allowance and reports whether one was left. It must not run in a transaction:
// a rollback would also undo the count of calls that this node has already allowed.
func (c *FreeCalls) Take(ctx context.Context, actor *access.Actor) (pipeline.FreeCall, bool, error) {
	switch limit := actor.Daily.FreeCalls; {
	case limit == plan.Unlimited:
		return unlimitedCall{}, true, nil
	case limit <= 0:
		return nil, false, nil
	}
	call, ok := c.teamLeaseFor(actor.TeamID).take(c.now(), actor)
	if !ok {
		var err error
		if call, err = c.fetch(ctx, actor); err != nil {
			return nil, false, err
		}
	}
	if call == nil {
		return nil, false, nil
	}
	return call, true, nil
}

func (c *FreeCalls) now() int64 { return db.Micros(c.db.Now()) }

// fetch fetches a new lease and takes a call from it. It returns nil if the team has no calls left.
func (c *FreeCalls) fetch(ctx context.Context, actor *access.Actor) (*freeCall, error) {
	t, err := c.lockTeamLease(ctx, actor.TeamID)
	if err != nil {
		return nil, err
	}
	defer t.unlock()
	if call, ok := t.take(c.now(), actor); ok {
		return call, nil // another call fetched a lease while this one waited
	}
	// Other calls wait for the lease too, so a client that disconnects must not interrupt the commit and cost the team
	// a lease.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	renewed, err := c.renewLease(ctx, actor, t.drain())
	if err != nil {
		return nil, fmt.Errorf("leasing free calls for team %d: %w", actor.TeamID, err)
	}
	return t.fill(renewed), nil
}

// Remaining returns the team's free calls left today, or -1 if they are unlimited. Calls leased by other nodes count as
// used. Remaining does not write to the database.
func (c *FreeCalls) Remaining(ctx context.Context, actor *access.Actor) (int64, error) {
	limit := actor.Daily.FreeCalls
	if limit <= 0 {
		return limit, nil
	}
	t, err := c.lockTeamLease(ctx, actor.TeamID) // so that no lease is fetched between the two counts
	if err != nil {
		return 0, err
	}
	defer t.unlock()
	stored, _, err := readDay(ctx, c.db, actor.TeamID, "")
	if err != nil {
		return 0, err
	}
	today := stored.at(c.db.Now(), actor.Zone)
	return min(limit, max(0, limit-today.used+t.remaining(today.dayStart))), nil
}

// teamLeaseFor returns the team's lease on this node.
func (c *FreeCalls) teamLeaseFor(team int64) *teamLease {
	t, ok := c.leases.Load(team)
	if !ok {
		if t, ok = c.leases.LoadOrStore(team, newTeamLease()); !ok && c.leaseCount.Add(1) > c.sweepAt.Load() {
			c.sweep()
		}
	}
	return t.(*teamLease) //nolint:forcetypeassert // the map holds only *teamLease
}

// lockTeamLease locks the team's lease and returns it. The caller must unlock it.
func (c *FreeCalls) lockTeamLease(ctx context.Context, team int64) (*teamLease, error) {
	for {
		t := c.teamLeaseFor(team)
		select {
		case t.lock <- struct{}{}:
			if !t.dropped {
				return t, nil
			}
			t.unlock()
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the free calls of team %d: %w", team, ctx.Err())
		}
	}
}

// sweepFrom is the number of leases that a node can hold before it first drops ended leases.
const sweepFrom = 1024

// sweep drops the leases of teams whose day has ended. It is called again when the number of leases has doubled.
func (c *FreeCalls) sweep() {
	if !c.sweeping.TryLock() {
		return
	}
	defer c.sweeping.Unlock()
	now := c.now()
	c.leases.Range(func(team, t any) bool {
		c.dropIdle(team, t.(*teamLease), now) //nolint:forcetypeassert // the map holds only *teamLease
		return true
	})
	c.sweepAt.Store(max(sweepFrom, 2*c.leaseCount.Load()))
}

func (c *FreeCalls) dropIdle(team any, t *teamLease, now int64) {
	select {
	case t.lock <- struct{}{}:
		defer t.unlock()
	default:
		return // in use
	}
	if t.hasEnded(now) {
		t.dropped = true
		c.leases.Delete(team)
		c.leaseCount.Add(-1)
	}
}
