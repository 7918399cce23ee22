// Package report creates reports on public profiles and hashtags. It fetches metrics from a provider, analyzes them,
// stores the findings, and refreshes them on request. Tracked reports are refreshed automatically. Credits are reserved
// in the transaction that starts a job and settled in the transaction that ends it.
package report

import (
	"context"
	"log/slog"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
)

// The kinds of reports.
const (
	Profile = "profile"
	Hashtag = "hashtag"
)

// Status is the state of a report.
type Status string

// The statuses of a report.
const (
	Pending Status = "pending" // the report is being created
	Ready   Status = "ready"
	Failed  Status = "error" // the report could not be created and was refunded
)

// Source is a provider of public metrics. See package provider for its errors.
type Source interface {
	Profile(ctx context.Context, q provider.ProfileQuery) (provider.ProfileMetrics, error)
	Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error)
	// Reachable returns an error if metrics of a platform are not available now. It must be fast.
	Reachable(ctx context.Context, platform string) error
}

// Credits reserves and settles credits in the team's wallet. See package credit for the methods.
type Credits interface {
	Lock(ctx context.Context, tx *db.Tx, team int64) error
	Hold(ctx context.Context, tx *db.Tx, call operation.Call, subject string, amount int64) error
	Release(ctx context.Context, tx *db.Tx, subject string) error
	ReserveAutomatic(ctx context.Context, tx *db.Tx, team, person int64, operation string, amount int64) (int64, error)
	Charge(ctx context.Context, tx *db.Tx, reservation int64) (bool, error)
	Refund(ctx context.Context, tx *db.Tx, reservation int64) (bool, error)
	ReservedCredits(ctx context.Context, reservation int64) (int64, error)
	RefundedCredits(ctx context.Context, reservation int64) (int64, error)
}

// Observer receives the fetched metrics, to update hashtag statistics.
type Observer interface {
	Hashtag(ctx context.Context, platform string, f provider.HashtagMetrics) error
	Posts(ctx context.Context, platform string, posts []provider.Post) error
}

// Options holds the dependencies of a Service.
type Options struct {
	DB        *db.DB
	Jobs      *job.Store
	Worker    *job.Worker
	Credits   Credits
	Catalog   plan.Catalog
	Observer  Observer // may be nil
	Source    Source   // nil if no provider is configured
	Limiter   *provider.Limiter
	PostLimit int // maximum number of posts to request for a report; default 500
	Log       *slog.Logger
}

// Service creates, refreshes and tracks reports.
type Service struct {
	Options

	db           *db.DB
	reachability reachability
}

const defaultPostLimit = 500

// New returns a Service and registers its job handlers.
func New(o Options) *Service {
	if o.PostLimit == 0 {
		o.PostLimit = defaultPostLimit
	}
	s := &Service{Options: o, db: o.DB}
	o.Worker.Handle(job.ProfileReport, s.run)
	o.Worker.Handle(job.HashtagReport, s.run)
	return s
}

// record is a stored report without its findings.
type record struct { //nolint:recvcheck // only scan changes the record
	id, kind, platform, subject string
	team                        int64
	status                      Status
	lastJobID, creationJobID    string // IDs of the last job and of the job that created the report
	measuredAt, refreshedAt     time.Time
	availableUntil              time.Time // zero while pending or failed
	tracked                     bool
	frequency                   int // days
	nextRefresh                 time.Time
	trackedBy, trackedKey       int64
	trackingEnded               string
	createdAt                   time.Time
}

// isAvailable reports whether the report is ready and has not expired. Tracked reports do not expire.
func (r record) isAvailable(now time.Time) bool {
	return r.status == Ready && (r.tracked || now.Before(r.availableUntil))
}

func (r record) jobType() job.Type {
	if r.kind == Hashtag {
		return job.HashtagReport
	}
	return job.ProfileReport
}

// createCost returns the price of a new report.
func (s *Service) createCost(kind string) int64 {
	if kind == Hashtag {
		return s.Catalog.Prices.HashtagReport
	}
	return s.Catalog.Prices.ProfileReport
}

// refreshCost returns the price of a refresh, automatic or on request.
func (s *Service) refreshCost(kind string) int64 {
	if kind == Hashtag {
		return s.Catalog.Prices.HashtagRefresh
	}
	return s.Catalog.Prices.ProfileRefresh
}
