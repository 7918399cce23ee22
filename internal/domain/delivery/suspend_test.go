package delivery

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A worker that continues after its lease expired changes nothing.
func TestExpiredLeaseCannotWrite(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		n := &scriptedNetwork{truthful: true}
		s := newEnv(t, testkit.Open(t, url, clock), clock, n)
		n.commits = []step{{class: network.Rejected, effect: true, during: func() {
			clock.Advance(2 * DefaultOptions.Lease) // the first worker hangs after its commit took effect
			s.work(t)                               // another worker takes over and finds it
		}}}
		s.deliver(t, time.Minute)
		if got := s.outcome(t); got != publishedOutcome || n.held != 1 || n.committed != 1 {
			t.Errorf("got %+v, %d held, %d commits", got, n.held, n.committed)
		}
	})
}

// A process that is suspended between recording and sending a commit does not send it after another has taken over.
func TestSuspendedProcessDoesNotSend(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		n := &scriptedNetwork{truthful: true}
		s := newEnv(t, testkit.Open(t, url, clock), clock, n)
		f, attempt := s.startCommit(t)
		clock.Advance(DefaultOptions.Lease + time.Second)
		s.deliver(t, time.Hour)
		if err := f.send(t.Context(), attempt); !errors.Is(err, errLeaseStale) {
			t.Errorf("going on: %v", err)
		}
		if got := s.outcome(t); got != publishedOutcome || n.held != 1 {
			t.Errorf("got %+v, %d held", got, n.held)
		}
	})
}

// A commit whose connection takes longer than a lease succeeds while the lease is renewed.
func TestRenewedLeaseSends(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		n := &scriptedNetwork{truthful: true}
		s := newEnv(t, testkit.Open(t, url, clock), clock, n)
		f, attempt := s.startCommit(t)
		for range 3 {
			clock.Advance(DefaultOptions.Lease * 2 / 3)
			must.NoError(t, f.renewLease(t.Context(), f.d))
		}
		if err := f.send(t.Context(), attempt); err != nil || n.held != 1 {
			t.Errorf("going on: %v, %d held", err, n.held)
		}
	})
}

// A commit that was not sent says nothing about its network.
func TestCircuitIgnoresSuspension(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	s := newEnv(t, testkit.Open(t, testkit.SQLite(t), clock), clock, &scriptedNetwork{})
	f, _ := s.startCommit(t)
	for n := range 20 {
		f.d.ID = fmt.Sprint("delivery ", n) // several failures open a circuit
		f.reportCall(t.Context(), "commit", &network.Error{Class: network.Uncertain,
			Err: fmt.Errorf("making a post: %w", errLeaseStale)})
	}
	if wait, may := s.circuits.allow(f.server, "another"); !may {
		t.Errorf("the network rests for %s", wait)
	}
}

// startCommit is a delivery's work until its commit was written and not made.
func (s *env) startCommit(t *testing.T) (*attempt, int64) {
	t.Helper()
	var id string
	must.NoError(t, s.db.QueryRow(t.Context(), `SELECT id FROM deliveries WHERE post_id = ?`, s.post).Scan(&id))
	claimed := s.instant()
	d, mine, err := s.claim(t.Context(), id)
	if err != nil || !mine {
		t.Fatalf("claimed: %v, %v", mine, err)
	}
	f := &attempt{s: s.Service, d: d}
	f.leaseConfirmed.Store(&claimed)
	err = errors.Join(f.connect(t.Context()), f.plan(t.Context()), f.prepare(t.Context()))
	attempt, beginErr := f.beginCall(t.Context(), "commit")
	must.NoError(t, errors.Join(err, beginErr))
	return f, attempt
}
