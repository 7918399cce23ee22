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
			clock.Advance(2 * DefaultOptions.Lease) // The first worker hangs after its commit took effect.
			s.deliverDue(t)                         // Another worker takes over and finds the post.
		}}}
		s.deliver(t, time.Minute)
		if got := s.outcome(t); got != publishedOutcome || n.posts != 1 || n.commitCalls != 1 {
			t.Errorf("got %+v, %d posts, %d commits", got, n.posts, n.commitCalls)
		}
	})
}

// A process that was suspended between recording and sending a commit does not send it after its lease expired.
func TestSuspendedProcessDoesNotSend(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		n := &scriptedNetwork{truthful: true}
		s := newEnv(t, testkit.Open(t, url, clock), clock, n)
		a, attempt := s.startCommit(t)
		clock.Advance(DefaultOptions.Lease + time.Second)
		s.deliver(t, time.Hour)
		if err := a.send(t.Context(), attempt); !errors.Is(err, errLeaseStale) {
			t.Errorf("send with an expired lease: %v", err)
		}
		if got := s.outcome(t); got != publishedOutcome || n.posts != 1 {
			t.Errorf("got %+v, %d posts", got, n.posts)
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
		if err := f.send(t.Context(), attempt); err != nil || n.posts != 1 {
			t.Errorf("send with a renewed lease: %v, %d posts", err, n.posts)
		}
	})
}

// A commit that was not sent does not open the circuit.
func TestCircuitIgnoresSuspension(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	s := newEnv(t, testkit.Open(t, testkit.SQLite(t), clock), clock, &scriptedNetwork{})
	a, _ := s.startCommit(t)
	for n := range 20 {
		a.d.ID = fmt.Sprint("delivery ", n) // Failures of several deliveries open a circuit.
		a.reportCall(t.Context(), "commit", &network.Error{Class: network.OutcomeUnknown,
			Err: fmt.Errorf("making a post: %w", errLeaseStale)})
	}
	if wait, may := s.breakers.allow(a.server, "another"); !may {
		t.Errorf("the circuit is open for %s", wait)
	}
}

// startCommit runs an attempt until the commit is recorded but not sent.
func (s *env) startCommit(t *testing.T) (*attempt, int64) {
	t.Helper()
	var id string
	must.NoError(t, s.db.QueryRow(t.Context(), `SELECT id FROM deliveries WHERE post_id = ?`, s.post).Scan(&id))
	claimed := s.instant()
	d, mine, err := s.claim(t.Context(), id)
	if err != nil || !mine {
		t.Fatalf("claimed: %v, %v", mine, err)
	}
	a := &attempt{s: s.Service, d: d}
	a.leaseConfirmed.Store(&claimed)
	err = errors.Join(a.connect(t.Context()), a.plan(t.Context()), a.prepare(t.Context()))
	attempt, beginErr := a.beginCall(t.Context(), "commit")
	must.NoError(t, errors.Join(err, beginErr))
	return a, attempt
}
