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

// flightTimeout ends what hangs against all care: each call has a bound of its own.
const flightTimeout = 5 * time.Minute

// admit has a woken delivery wait for its turn on this node; the queue goes on at once.
func (s *Service) admit(ctx context.Context, id string) error {
	if s.pace.waits(id) {
		return nil
	}
	b := boarding{id: id}
	err := s.db.QueryRow(ctx, `SELECT d.team_id, a.platform FROM deliveries d JOIN social_accounts a ON a.id = d.account_id WHERE d.id = ? AND d.phase <> 'ended'`, id).Scan(&b.team, &b.platform)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the delivery %s that was woken: %w", id, err)
	}
	s.pace.add(b)
	return nil
}

// Run works on what was woken until the context ends, and cuts off what is under way then: Land waits for it before.
func (s *Service) Run(ctx context.Context) {
	var flights sync.WaitGroup
	defer flights.Wait()
	for {
		for b, free := s.pace.next(); free; b, free = s.pace.next() {
			flights.Go(func() { s.fly(ctx, b) })
		}
		select {
		case <-ctx.Done():
			return
		case <-s.pace.moved:
		}
	}
}

// fly works on one delivery. A fault of one network's code must not end the work for all.
func (s *Service) fly(ctx context.Context, b boarding) {
	defer s.pace.landed(b)
	defer func() {
		if fault := recover(); fault != nil {
			s.log.ErrorContext(ctx, "a delivery panicked and was left for later", "delivery", b.id, "panic", fault, "stack", string(debug.Stack()))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, flightTimeout)
	defer cancel()
	if err := s.Deliver(ctx, b.id); err != nil && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "a delivery could not be taken up", "delivery", b.id, "error", err)
	}
}

// Land lets nothing start any more and waits for what is under way, until the context ends.
func (s *Service) Land(ctx context.Context) error {
	s.pace.close()
	select {
	case <-s.pace.idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for deliveries under way: %w", ctx.Err())
	}
}

// InFlight tells how many deliveries this node works on, by the network's name.
func (s *Service) InFlight() map[string]int { return s.pace.under() }
