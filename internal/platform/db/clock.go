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
	clockInterval = time.Second          // time between two queries of the server's time
	clockTimeout  = 2 * time.Second      // timeout of a query; a slower response would be too inaccurate
	clockTries    = 5                    // maximum number of queries when the database is opened
	clockSlack    = 2 * time.Millisecond // tolerated difference; clocks are adjusted gradually
)

// serverClock estimates the time of PostgreSQL's clock, which all nodes use. Leases, and the timeout of deliveries with
// an unknown outcome, must not depend on clock skew between nodes. The clock queries the server's time at regular
// intervals, and advances it by the machine's monotonic clock in between. Setting the machine's clock therefore has no
// effect.
type serverClock struct {
	localNow func() time.Time // the machine's clock, with monotonic clock readings
	last     atomic.Pointer[clockReading]
	cancel   context.CancelFunc
	done     chan struct{}
}

// clockReading is the time that the machine's clock and the server's clock show at the same instant.
type clockReading struct{ machine, server time.Time }

func newServerClock(machine func() time.Time) *serverClock {
	c := &serverClock{localNow: machine, done: make(chan struct{})}
	now := machine()
	c.last.Store(&clockReading{now, now.Round(0)})
	return c
}

// now returns the estimated server time.
func (c *serverClock) now() time.Time {
	r := c.last.Load()
	return r.server.Add(c.localNow().Sub(r.machine))
}

// query reads PostgreSQL's time and corrects the estimate if that time contradicts it.
func (c *serverClock) query(ctx context.Context, pool *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	sentAt := c.localNow()
	var micros int64
	if err := pool.QueryRowContext(ctx, `SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`).
		Scan(&micros); err != nil {
		return fmt.Errorf("reading PostgreSQL's time: %w", err)
	}
	c.correct(sentAt, Time(micros), c.localNow())
	return nil
}

// queryFirst queries the time before the database is used. It retries after a timeout, because the first response from
// a busy server may be slow.
func (c *serverClock) queryFirst(ctx context.Context, pool *sql.DB) error {
	for try := 1; ; try++ {
		err := c.query(ctx, pool)
		if err == nil || try == clockTries || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}

// correct updates the estimate with serverTime, which was read between sentAt and receivedAt. It keeps an estimate that
// does not contradict serverTime, so that a slow response does not replace the result of a fast one.
func (c *serverClock) correct(sentAt, serverTime, receivedAt time.Time) {
	estimate, earliest := c.now(), serverTime
	latest := serverTime.Add(receivedAt.Sub(sentAt))
	switch {
	case estimate.Before(earliest.Add(-clockSlack)):
		c.last.Store(&clockReading{receivedAt, earliest})
	case estimate.After(latest.Add(clockSlack)):
		c.last.Store(&clockReading{receivedAt, latest})
	}
}

// start queries the time at regular intervals until close is called.
func (c *serverClock) start(pool *sql.DB) {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	go func() {
		defer close(c.done)
		tick := time.NewTicker(clockInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = c.query(ctx, pool) // on failure, the estimate is kept; other queries report that the database is unavailable
			}
		}
	}()
}

func (c *serverClock) close() {
	c.cancel()
	<-c.done
}

// ClockOffset returns how far the machine's clock is ahead of PostgreSQL's, or a negative duration if it is behind. It
// returns zero with SQLite and with Options.Now.
func (d *DB) ClockOffset() time.Duration {
	if d.clock == nil {
		return 0
	}
	return d.clock.localNow().Round(0).Sub(d.clock.now())
}

func (o Options) machineClock() func() time.Time {
	if o.machine != nil {
		return o.machine
	}
	return time.Now
}
