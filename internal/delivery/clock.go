package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// errClock says that this node's clock and the database's are not together. A lease, and the time after which a network is believed
// not to hold a post, are told by the clocks of nodes: one that is ahead would take a post over that another still sends.
var errClock = errors.New("this node's clock is not together with the database's, and it hands no post over until it is")

// remindEvery is how often the log says so again.
const remindEvery = time.Minute

// clockWatch keeps in mind how far the clock was from the database's when it was last held against it.
type clockWatch struct {
	mu   sync.Mutex
	by   time.Duration
	told time.Time // when the log last said that they are apart; zero while they are together
}

// ClockAhead is how far this node's clock was ahead of the database's when it last held them against each other; below zero where it
// was behind.
func (s *Service) ClockAhead() time.Duration {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	return s.clock.by
}

// ClockApart tells whether that is more than the operator bears, so that this node hands no post over.
func (s *Service) ClockApart() bool {
	return s.opts.ClockApart > 0 && s.ClockAhead().Abs() > s.opts.ClockApart
}

// together fails with errClock while the clocks are further apart than the operator bears.
func (s *Service) together(ctx context.Context) error {
	if s.opts.ClockApart <= 0 {
		return nil
	}
	by, err := s.db.ClockAhead(ctx)
	if err != nil {
		return fmt.Errorf("holding the clock against the database's: %w", err)
	}
	s.note(ctx, by)
	if by.Abs() > s.opts.ClockApart {
		return errClock
	}
	return nil
}

// note keeps how far they are apart, and has the log say it when that begins and ends.
func (s *Service) note(ctx context.Context, by time.Duration) {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	s.clock.by = by
	now := time.Now() // what the log waits by must not jump with the clock
	switch apart := by.Abs() > s.opts.ClockApart; {
	case apart && (s.clock.told.IsZero() || now.Sub(s.clock.told) >= remindEvery):
		s.clock.told = now
		s.log.ErrorContext(ctx, errClock.Error(), "ahead_by", by.Round(time.Millisecond).String(), "at_most", s.opts.ClockApart.String())
	case !apart && !s.clock.told.IsZero():
		s.clock.told = time.Time{}
		s.log.InfoContext(ctx, "this node's clock is together with the database's again, and it goes on")
	}
}
