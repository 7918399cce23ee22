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

// deliverTimeout ends what hangs against all care: each call has a bound of its own.
const deliverTimeout = 5 * time.Minute

// admit has a woken delivery wait for its turn on this node; the queue goes on at once.
func (s *Service) admit(ctx context.Context, id string) error {
	if s.waiting.contains(id) {
		return nil
	}
	b := queued{id: id}
	err := s.db.QueryRow(ctx, `SELECT d.team_id, a.platform FROM deliveries d JOIN social_accounts a ON a.id = d.account_id WHERE d.id = ? AND d.phase <> 'ended'`, id).Scan(&b.team, &b.platform)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the delivery %s that was woken: %w", id, err)
	}
	s.waiting.add(b)
	return nil
}

// Run works on what was woken until the context ends, and cuts off what is under way then: Land waits for it before.
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

// work works on one delivery. A fault of one network's code must not end the work for all.
func (s *Service) work(ctx context.Context, b queued) {
	defer s.waiting.release(b)
	defer func() {
		if fault := recover(); fault != nil {
			s.log.ErrorContext(ctx, "a delivery panicked and was left for later", "delivery", b.id, "panic", fault, "stack", string(debug.Stack()))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, deliverTimeout)
	defer cancel()
	if err := s.Deliver(ctx, b.id); err != nil && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "a delivery could not be taken up", "delivery", b.id, "error", err)
	}
}

// Drain lets nothing start any more and waits for what is under way, until the context ends.
func (s *Service) Drain(ctx context.Context) error {
	s.waiting.close()
	select {
	case <-s.waiting.idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for deliveries under way: %w", ctx.Err())
	}
}

// InFlight tells how many deliveries this node works on, by the network's name.
func (s *Service) InFlight() map[string]int { return s.waiting.runningByNetwork() }
