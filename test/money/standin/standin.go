// Package standin provides paid operations for tests. The query of a call defines its price and outcome, so that
// tests can cause every outcome.
package standin

import (
	"context"
	"sync"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
)

// The names of the operations.
const (
	Search   = "stand_in_search"   // starts a job, which settles the reservation
	Tracking = "stand_in_tracking" // settles the reservation in the call
	Faulty   = "stand_in_faulty"   // fails after the reservation, the first time that a node receives the query
	Note     = "stand_in_note"     // a write without a charge
)

// Service implements the operations and runs their jobs.
type Service struct {
	parts     server.ExtensionServices
	suspended func() bool // whether jobs are suspended
	mu        sync.Mutex
	received  map[string]bool // queries of Faulty that this process has received
}

// New returns the operations of a server. While suspended returns true, no job finishes.
func New(p server.ExtensionServices, suspended func() bool) *Service {
	s := &Service{parts: p, suspended: suspended, received: map[string]bool{}}
	p.Queue.Handle(queueName, s.Do)
	return s
}

// Configure adds the operations to a server's configuration. It passes the service to ready when it exists.
func Configure(cfg server.Config, suspended func() bool, ready func(*Service)) server.Config {
	cfg.Extend = func(p server.ExtensionServices) []operation.Operation {
		s := New(p, suspended)
		ready(s)
		return s.Operations()
	}
	cfg.Results = map[job.Type]job.Result{searchType: {Read: result, Data: []any{searchResult{}}}}
	return cfg
}

// Catalog returns plans whose only effective limit is the number of daily free calls.
func Catalog(freeCalls int64) *plan.Catalog {
	t := plan.Default().ScaleRates(1000)
	t.Limits.JobsInFlight = maxJobs
	for i := range t.Plans {
		t.Plans[i].APIKeys, t.Plans[i].FreeCallsPerDay, t.Plans[i].DailyCredits = true, freeCalls, plan.Unlimited
	}
	return &t
}

const maxJobs = 1000

// Injector is called at named points of a transaction. If it returns an error, the transaction is rolled back. It is
// also called, without a transaction, after a worker has read its job.
type Injector func(ctx context.Context, tx *db.Tx, at string) error

type injectorKey struct{}

// WithInjector returns a context whose calls and jobs call the injector.
func WithInjector(ctx context.Context, m Injector) context.Context {
	return context.WithValue(ctx, injectorKey{}, m)
}

func inject(ctx context.Context, tx *db.Tx, at string) error {
	if m, ok := ctx.Value(injectorKey{}).(Injector); ok {
		return m(ctx, tx, at)
	}
	return nil
}

const searchType = job.Type("hashtag_search")

// queueName is the name of the jobs in the queue.
const queueName = "stand_in"
