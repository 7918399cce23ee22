package delivery

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"time"

	"pressroom.example/pressroom/internal/domain/post/due"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

const (
	wakeInterval      = 250 * time.Millisecond // A due post must be published within two seconds.
	wakeBatchSize     = 100
	heartbeatInterval = 5 * time.Second // time between two heartbeats of the queue
	// Heartbeat is the kind of the queue's heartbeats.
	Heartbeat = "heartbeat"
)

// Waker releases due posts and wakes deliveries that are due or whose lease has expired. Every worker node runs a
// Waker.
type Waker struct {
	s               *Service
	lastHeartbeat   atomic.Int64 // when the queue last delivered a heartbeat, in microseconds
	heartbeatSentAt time.Time
}

// NewWaker returns a waker.
func (s *Service) NewWaker() *Waker {
	w := &Waker{s: s}
	w.RecordHeartbeat()
	for _, kind := range []string{Heartbeat, "pulse"} { // "pulse" is sent by nodes of earlier versions
		s.queue.Handle(kind, func(context.Context, string) error {
			w.RecordHeartbeat()
			return nil
		})
	}
	return w
}

// RecordHeartbeat records that the queue delivers work now. Callers that move the clock forward must call it, so that
// the queue does not seem to have stopped.
func (w *Waker) RecordHeartbeat() { w.lastHeartbeat.Store(db.Micros(w.s.db.Now())) }

// LastHeartbeat returns when the queue last delivered a heartbeat to this process.
func (w *Waker) LastHeartbeat() time.Time { return db.Time(w.lastHeartbeat.Load()) }

// Run calls Once repeatedly until ctx is canceled. It passes errors to report and continues.
func (w *Waker) Run(ctx context.Context, report func(error)) {
	tick := time.NewTicker(wakeInterval)
	defer tick.Stop()
	for {
		if err := w.Once(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Once releases due posts and wakes due deliveries.
func (w *Waker) Once(ctx context.Context) error {
	ids, err := due.List(ctx, w.s.db, wakeBatchSize)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := w.s.posts.Release(ctx, id); err != nil {
			// One post that cannot be released must not delay the others.
			w.s.log.ErrorContext(ctx, "Releasing a due post failed", "post", id, "error", err)
		}
	}
	if err := w.wake(ctx); err != nil {
		return err
	}
	return w.sendHeartbeat(ctx)
}

func (w *Waker) wake(ctx context.Context) error {
	now := w.s.db.Now()
	var waiting int
	err := w.s.db.QueryRow(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM deliveries WHERE wake_at > 0 AND wake_at <= ?
		AND `+restoreguard.NotHeld+` LIMIT 1) AS waiting`, db.Micros(now)).Scan(&waiting)
	if err != nil {
		return fmt.Errorf("finding deliveries to wake: %w", err)
	}
	if waiting == 0 {
		return nil
	}
	return w.s.db.InTx(ctx, "delivery.wake", func(ctx context.Context, tx *db.Tx) error {
		ids, err := db.All(ctx, tx, func(rows *sql.Rows, id *string) error { return rows.Scan(id) },
			`UPDATE deliveries SET wake_at = ? WHERE id IN (SELECT id FROM deliveries WHERE wake_at > 0
				AND wake_at <= ? ORDER BY wake_at LIMIT ?) AND wake_at <= ? RETURNING id`,
			db.Micros(now.Add(rewakeAfter)), db.Micros(now), wakeBatchSize, db.Micros(now))
		if err != nil {
			return fmt.Errorf("waking deliveries: %w", err)
		}
		return w.s.queue.Wake(ctx, tx, WorkKind, ids...)
	})
}

// sendHeartbeat sends a heartbeat through the queue. The readiness check uses it to detect a queue that does not
// deliver work.
func (w *Waker) sendHeartbeat(ctx context.Context) error {
	if now := w.s.db.Now(); now.Sub(w.heartbeatSentAt) >= heartbeatInterval {
		w.heartbeatSentAt = now
		return w.s.db.InTx(ctx, "delivery.heartbeat", func(ctx context.Context, tx *db.Tx) error {
			return w.s.queue.Wake(ctx, tx, Heartbeat, w.s.owner)
		})
	}
	return nil
}
