// Package standin has paid operations for tests. Their price and outcome depend on the text of the call, so that tests
// can cause every outcome.
package standin

import (
	"context"
	"sync"

	"pressroom/internal/core/operation"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/job"
	"pressroom/internal/platform/db"
	"pressroom/internal/server"
)

// The names of the operations.
const (
	Search   = "stand_in_search"   // starts a job, which settles
	Tracking = "stand_in_tracking" // settles in the call
	Faulty   = "stand_in_faulty"   // fails after it has reserved, the first time that a node meets it
	Note     = "stand_in_note"     // a write without money
)

// Service does the work of the operations.
type Service struct {
	parts server.Parts
	held  func() bool // whether work in the background has to wait
	mu    sync.Mutex
	met   map[string]bool // the faulty orders that this process has met
}

// New returns the operations of a program. While held returns true, no background work ends.
func New(p server.Parts, held func() bool) *Service {
	s := &Service{parts: p, held: held, met: map[string]bool{}}
	p.Queue.Handle(wake, s.Do)
	return s
}

// Configure adds the operations to a program's configuration and calls ready with the service once it exists.
func Configure(cfg server.Config, held func() bool, ready func(*Service)) server.Config {
	cfg.Extend = func(p server.Parts) []operation.Operation {
		s := New(p, held)
		ready(s)
		return s.Operations()
	}
	cfg.Results = map[job.Type]job.Result{searching: result}
	return cfg
}

// Terms returns plans without limits, except for the daily free calls, and rates that no test reaches.
func Terms(freeCalls int64) *plan.Terms {
	t := plan.Default().ScaleRates(1000)
	t.Limits.JobsInFlight = inFlight
	for i := range t.Plans {
		t.Plans[i].APIKeys, t.Plans[i].FreeCallsPerDay, t.Plans[i].DailyCredits = true, freeCalls, plan.Unlimited
	}
	return &t
}

const inFlight = 1000

// Injector is called at points within transactions, which its error rolls back, and outside of a transaction when a
// worker has read its job.
type Injector func(ctx context.Context, tx *db.Tx, at string) error

type injectorKey struct{}

// WithInjector returns a context whose calls and work call a Injector.
func WithInjector(ctx context.Context, m Injector) context.Context {
	return context.WithValue(ctx, injectorKey{}, m)
}

func inject(ctx context.Context, tx *db.Tx, at string) error {
	if m, ok := ctx.Value(injectorKey{}).(Injector); ok {
		return m(ctx, tx, at)
	}
	return nil
}

const searching = job.Type("hashtag_search")

// wake is the queue's name for the work.
const wake = "stand_in"
