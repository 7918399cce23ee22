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

// deliverTimeout limits the duration of an attempt. Each network call has a shorter timeout.
const deliverTimeout = 5 * time.Minute

// enqueue adds a woken delivery to the queue in memory, without waiting for the attempt.
func (s *Service) enqueue(ctx context.Context, id string) error {
	if s.pending.contains(id) {
		return nil
	}
	d := queuedDelivery{id: id}
	err := s.db.QueryRow(ctx, `SELECT d.team_id, a.platform FROM deliveries d
		JOIN social_accounts a ON a.id = d.account_id WHERE d.id = ? AND d.phase <> 'ended'`, id).Scan(&d.team,
		&d.platform)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading woken delivery %s: %w", id, err)
	}
	s.pending.add(d)
	return nil
}

// Run processes queued deliveries until ctx is canceled. This also cancels running deliveries; call Drain first to let
// them finish.
func (s *Service) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		for d, ok := s.pending.next(); ok; d, ok = s.pending.next() {
			wg.Go(func() { s.work(ctx, d) })
		}
		select {
		case <-ctx.Done():
			return
		case <-s.pending.changed:
		}
	}
}

// work processes one delivery. It recovers from a panic, so that other deliveries continue.
func (s *Service) work(ctx context.Context, d queuedDelivery) {
	defer s.pending.release(d)
	defer func() {
		if recovered := recover(); recovered != nil {
			s.log.ErrorContext(ctx, "Delivery attempt panicked; it is retried when its lease expires", "delivery",
				d.id, "panic", recovered, "stack", string(debug.Stack()))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, deliverTimeout)
	defer cancel()
	if err := s.Deliver(ctx, d.id); err != nil && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "Claiming a delivery failed", "delivery", d.id, "error", err)
	}
}

// Drain stops starting deliveries and waits for running deliveries to finish or for ctx to be canceled.
func (s *Service) Drain(ctx context.Context) error {
	s.pending.close()
	select {
	case <-s.pending.idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for running deliveries: %w", ctx.Err())
	}
}

// InFlight returns the number of running deliveries on this node, by platform.
func (s *Service) InFlight() map[string]int { return s.pending.runningByNetwork() }
