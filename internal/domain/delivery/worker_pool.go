package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// deliverTimeout ends an attempt that hangs. Each call has its own shorter timeout.
const deliverTimeout = 5 * time.Minute

// admit queues a woken delivery in memory; the job queue continues at once.
func (s *Service) admit(ctx context.Context, id string) error {
	if s.waiting.contains(id) {
		return nil
	}
	b := queued{id: id}
	err := s.db.QueryRow(ctx, `SELECT d.team_id, a.platform FROM deliveries d
		JOIN social_accounts a ON a.id = d.account_id WHERE d.id = ? AND d.phase <> 'ended'`, id).Scan(&b.team,
		&b.platform)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading woken delivery %s: %w", id, err)
	}
	s.waiting.add(b)
	return nil
}

// Run works on queued deliveries until the context ends, which cancels them. Call Drain first to let them
// finish.
func (s *Service) Run(ctx context.Context) {
	var flights sync.WaitGroup
	defer flights.Wait()
	for {
		for b, free := s.waiting.next(); free; b, free = s.waiting.next() {
			flights.Go(func() { s.work(ctx, b) })
		}
		select {
		case <-ctx.Done():
			return
		case <-s.waiting.changed:
		}
	}
}

// work runs one delivery. A panic in one network's code must not end the others.
func (s *Service) work(ctx context.Context, b queued) {
	defer s.waiting.release(b)
	defer func() {
		if fault := recover(); fault != nil {
			s.log.ErrorContext(ctx, "Delivery attempt panicked; it is retried when its lease expires", "delivery",
				b.id, "panic", fault, "stack", string(debug.Stack()))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, deliverTimeout)
	defer cancel()
	if err := s.Deliver(ctx, b.id); err != nil && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "Claiming a delivery failed", "delivery", b.id, "error", err)
	}
}

// Drain starts no more deliveries and waits for running ones, until the context ends.
func (s *Service) Drain(ctx context.Context) error {
	s.waiting.close()
	select {
	case <-s.waiting.idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for running deliveries: %w", ctx.Err())
	}
}

// InFlight returns the number of running deliveries on this node, by platform.
func (s *Service) InFlight() map[string]int { return s.waiting.runningByNetwork() }
