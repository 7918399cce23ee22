package ratelimit

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/core/pipeline"
	"pressroom/internal/core/plan"
	"pressroom/internal/platform/db"
)

// Calls is the teams' daily allowance of free calls. The database counts for each team what is handed out of its
// day; a node takes from there in leases and then counts in memory, so that a call seldom asks the database. A
// node that dies takes its teams' leases with it; nothing is ever handed out twice.
type Calls struct {
	db       *db.DB
	purses   sync.Map     // id of a team -> *purse
	known    atomic.Int64 // how many purses there are
	sweepAt  atomic.Int64 // how many there may be before the idle ones are dropped
	sweeping sync.Mutex
}

var _ pipeline.FreeCalls = (*Calls)(nil)

// NewCalls makes the allowance.
func NewCalls(d *db.DB) *Calls {
	c := &Calls{db: d}
	c.sweepAt.Store(sweepFrom)
	return c
}

// fetchWithin bounds how long a call waits for a lease.
const fetchWithin = 5 * time.Second

// Take takes one call out of the day's allowance; false where none is left. The context must carry no transaction:
// one that is taken back would take back what this node has handed out.
func (c *Calls) Take(ctx context.Context, actor *access.Actor) (pipeline.FreeCall, bool, error) {
	switch limit := actor.Daily.FreeCalls; {
	case limit == plan.Unlimited:
		return uncounted{}, true, nil
	case limit <= 0:
		return nil, false, nil
	}
	call, known := c.purse(actor.TeamID).take(c.now(), actor)
	if !known {
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

func (c *Calls) now() int64 { return db.Micros(c.db.Now()) }

// fetch takes a call out of a new lease; nil where the team has none left.
func (c *Calls) fetch(ctx context.Context, actor *access.Actor) (*freeCall, error) {
	p, err := c.enter(ctx, actor.TeamID)
	if err != nil {
		return nil, err
	}
	defer p.leave()
	if call, known := p.take(c.now(), actor); known {
		return call, nil // another call has fetched while this one waited
	}
	// A caller that hangs up during the commit would cost the team a lease, and others wait for it too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchWithin)
	defer cancel()
	fresh, err := c.lease(ctx, actor, p.empty())
	if err != nil {
		return nil, fmt.Errorf("leasing free calls for team %d: %w", actor.TeamID, err)
	}
	return p.fill(fresh), nil
}

// Left is how many free calls the team has left today, -1 where it has any number of them. What other nodes hold
// in their leases counts as used. Nothing is written.
func (c *Calls) Left(ctx context.Context, actor *access.Actor) (int64, error) {
	limit := actor.Daily.FreeCalls
	if limit <= 0 {
		return limit, nil
	}
	p, err := c.enter(ctx, actor.TeamID) // no lease is fetched between the two counts
	if err != nil {
		return 0, err
	}
	defer p.leave()
	stored, _, err := read(ctx, c.db, actor.TeamID, "")
	if err != nil {
		return 0, err
	}
	today := stored.at(c.db.Now(), actor.Zone)
	return min(limit, max(0, limit-today.used+p.held(today.since))), nil
}

// purse finds what this node holds of a team's calls.
func (c *Calls) purse(team int64) *purse {
	p, ok := c.purses.Load(team)
	if !ok {
		if p, ok = c.purses.LoadOrStore(team, newPurse()); !ok && c.known.Add(1) > c.sweepAt.Load() {
			c.sweep()
		}
	}
	return p.(*purse) //nolint:forcetypeassert // nothing else is kept in the map
}

// enter finds a team's purse and waits until nobody else changes its lease.
func (c *Calls) enter(ctx context.Context, team int64) (*purse, error) {
	for {
		p := c.purse(team)
		select {
		case p.turn <- struct{}{}:
			if !p.dropped {
				return p, nil
			}
			p.leave()
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the free calls of team %d: %w", team, ctx.Err())
		}
	}
}

// sweepFrom is how many purses there may be before anybody looks for idle ones.
const sweepFrom = 1024

// sweep drops the purses of teams whose day has ended, and comes again once there are twice as many as it left.
func (c *Calls) sweep() {
	if !c.sweeping.TryLock() {
		return
	}
	defer c.sweeping.Unlock()
	now := c.now()
	c.purses.Range(func(team, p any) bool {
		c.dropIdle(team, p.(*purse), now) //nolint:forcetypeassert // nothing else is kept in the map
		return true
	})
	c.sweepAt.Store(max(sweepFrom, 2*c.known.Load()))
}

func (c *Calls) dropIdle(team any, p *purse, now int64) {
	select {
	case p.turn <- struct{}{}:
		defer p.leave()
	default:
		return // somebody is at it, so it is not idle
	}
	if p.ended(now) {
		p.dropped = true
		c.purses.Delete(team)
		c.known.Add(-1)
	}
}
