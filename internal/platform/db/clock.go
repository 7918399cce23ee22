package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	clockEvery  = time.Second
	clockWithin = 2 * time.Second      // a question that takes longer tells next to nothing
	clockTries  = 5                    // before the database is opened: a busy server may be slow once
	clockSlack  = 2 * time.Millisecond // that the two may differ by: clocks are told in microseconds, and slewed
)

// serverClock is PostgreSQL's clock as this process knows it, by which all nodes of a database go: leases, and the
// time after which a network is believed not to hold a post, must not depend on how far the clocks of machines are
// apart. It is asked for its time now and then and counted on from there, so that a machine's clock that is set
// changes nothing.
type serverClock struct {
	machine func() time.Time // with Go's count of time beside it
	last    atomic.Pointer[reading]
	end     context.CancelFunc
	ended   chan struct{}
}

// reading is a moment as it was told here and there.
type reading struct{ here, there time.Time }

func newServerClock(machine func() time.Time) *serverClock {
	c := &serverClock{machine: machine, ended: make(chan struct{})}
	now := machine()
	c.last.Store(&reading{now, now.Round(0)})
	return c
}

// now counts on from the last reading.
func (c *serverClock) now() time.Time {
	r := c.last.Load()
	return r.there.Add(c.machine().Sub(r.here))
}

// ask holds the clock against PostgreSQL's, whose answer was true at a moment between the question and its coming.
// What may be right is left as it is: a slow answer moves nothing that a quick one has set.
func (c *serverClock) ask(ctx context.Context, pool *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, clockWithin)
	defer cancel()
	asked := c.machine()
	var micros int64
	if err := pool.QueryRowContext(ctx, `SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`).
		Scan(&micros); err != nil {
		return fmt.Errorf("asking PostgreSQL for the time: %w", err)
	}
	c.learn(asked, Time(micros), c.machine())
	return nil
}

// first asks until an answer comes in time, which one of a busy server may not the first time.
func (c *serverClock) first(ctx context.Context, pool *sql.DB) error {
	for try := 1; ; try++ {
		err := c.ask(ctx, pool)
		if err == nil || try == clockTries || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}

func (c *serverClock) learn(asked, told, came time.Time) {
	believed, earliest := c.now(), told
	latest := told.Add(came.Sub(asked))
	switch {
	case believed.Before(earliest.Add(-clockSlack)):
		c.last.Store(&reading{came, earliest})
	case believed.After(latest.Add(clockSlack)):
		c.last.Store(&reading{came, latest})
	}
}

// follow asks now and then until it is ended.
func (c *serverClock) follow(pool *sql.DB) {
	ctx, end := context.WithCancel(context.Background())
	c.end = end
	go func() {
		defer close(c.ended)
		tick := time.NewTicker(clockEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = c.ask(ctx, pool) // whoever needs the database learns that it is away; the time is counted on
			}
		}
	}()
}

func (c *serverClock) close() {
	c.end()
	<-c.ended
}

// ClockAhead is how far the machine's clock is ahead of PostgreSQL's, below zero where it is behind. SQLite has none
// of its own, and whoever brings a clock goes by that.
func (d *DB) ClockAhead() time.Duration {
	if d.clock == nil {
		return 0
	}
	return d.clock.machine().Round(0).Sub(d.clock.now())
}

func (o Options) machineClock() func() time.Time {
	if o.machine != nil {
		return o.machine
	}
	return time.Now
}
