// Package report makes reports on public profiles and hashtags: it asks a source for their figures, has them
// analysed, keeps what came of it, and makes them anew when somebody asks or, while tracking is on, by itself. Every
// making is paid for: the credits are set aside in the transaction that begins it and settled in the one that ends it.
package report

import (
	"context"
	"log/slog"
	"time"

	"pressroom/internal/core/operation"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/provider"
	"pressroom/internal/platform/db"
)

// The kinds of a report.
const (
	Profile = "profile"
	Hashtag = "hashtag"
)

// Status is how a report stands.
type Status string

// The statuses of the contract.
const (
	Pending Status = "pending" // it is being made
	Ready   Status = "ready"
	Failed  Status = "error" // making it failed, and what it cost was given back
)

// Source is where public figures come from. The errors are those of package provider.
type Source interface {
	Profile(ctx context.Context, q provider.ProfileQuery) (provider.ProfileFigures, error)
	Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error)
	// Reachable asks quickly whether figures of a platform could be had now.
	Reachable(ctx context.Context, platform string) error
}

// Credits is the team's money.
type Credits interface {
	Lock(ctx context.Context, tx *db.Tx, team int64) error
	Hold(ctx context.Context, tx *db.Tx, call operation.Call, subject string, amount int64) error
	Release(ctx context.Context, tx *db.Tx, subject string) error
	ReserveAutomatic(ctx context.Context, tx *db.Tx, team, person int64, operation string, amount int64) (int64, error)
	Charge(ctx context.Context, tx *db.Tx, reservation int64) (bool, error)
	Refund(ctx context.Context, tx *db.Tx, reservation int64) (bool, error)
	Charged(ctx context.Context, reservation int64) (int64, error)
	Returned(ctx context.Context, reservation int64) (int64, error)
}

// Observer learns of hashtags from what reports are told, for all teams.
type Observer interface {
	Hashtag(ctx context.Context, platform string, f provider.HashtagFigures) error
	Posts(ctx context.Context, platform string, posts []provider.Post) error
}

// Options are what the service stands on.
type Options struct {
	DB        *db.DB
	Jobs      *job.Store
	Worker    *job.Worker
	Credits   Credits
	Terms     plan.Terms
	Observer  Observer // nil where nobody learns
	Source    Source   // nil where the operator has joined none
	Turns     *provider.Turns
	PostLimit int // posts that a source is asked for at once; 500 where 0
	Log       *slog.Logger
}

// Service makes and keeps reports.
type Service struct {
	Options

	db           *db.DB
	reachability reachability
}

const defaultPostLimit = 500

// New makes the service and says who does its jobs.
func New(o Options) *Service {
	if o.PostLimit == 0 {
		o.PostLimit = defaultPostLimit
	}
	s := &Service{Options: o, db: o.DB}
	o.Worker.Handle(job.ProfileReport, s.run)
	o.Worker.Handle(job.HashtagReport, s.run)
	return s
}

// record is a report as it is stored, without what it holds.
type record struct { //nolint:recvcheck // scan fills it, all else only reads
	id, kind, platform, subject string
	team                        int64
	status                      Status
	job, madeBy                 string // ids of jobs
	measuredAt, refreshedAt     time.Time
	availableUntil              time.Time // zero while it is pending or failed
	tracked                     bool
	frequency                   int // days
	nextRefresh                 time.Time
	trackedBy, trackedKey       int64
	trackingEnded               string
	createdAt                   time.Time
}

// isAvailable tells whether the team has the report: it is ready, and its time is not over; that of a tracked one never is.
func (r record) isAvailable(now time.Time) bool {
	return r.status == Ready && (r.tracked || now.Before(r.availableUntil))
}

func (r record) jobType() job.Type {
	if r.kind == Hashtag {
		return job.HashtagReport
	}
	return job.ProfileReport
}

// createCost is the price of a new report of a kind.
func (s *Service) createCost(kind string) int64 {
	if kind == Hashtag {
		return s.Terms.Prices.HashtagReport
	}
	return s.Terms.Prices.ProfileReport
}

// refreshCost is the price of each refresh of a kind, automatic or asked for.
func (s *Service) refreshCost(kind string) int64 {
	if kind == Hashtag {
		return s.Terms.Prices.HashtagRefresh
	}
	return s.Terms.Prices.ProfileRefresh
}
