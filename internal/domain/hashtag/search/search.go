// Package search finds hashtags for a keyword: those that are the keyword itself, asked for at a source, and those that
// are known to match it or to stand beside it. A team pays for a keyword on a platform once while its data window lives.
package search

import (
	"context"
	"log/slog"
	"time"

	"pressroom/internal/core/plan"
	"pressroom/internal/domain/hashtag/stats"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/provider"
	"pressroom/internal/platform/db"
)

// Source is where figures of hashtags come from. The errors are those of package provider.
type Source interface {
	Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error)
}

// Credits is the team's money.
type Credits interface {
	Charge(ctx context.Context, tx *db.Tx, reservation int64) (bool, error)
	Refund(ctx context.Context, tx *db.Tx, reservation int64) (bool, error)
	Charged(ctx context.Context, reservation int64) (int64, error)
}

// Reports tells when the figures of a team's own report on a hashtag were measured; zero where it has none.
type Reports interface {
	MeasuredAt(ctx context.Context, q db.Querier, team int64, platform, hashtag string) (time.Time, error)
}

// Options are what the service stands on.
type Options struct {
	DB        *db.DB
	Jobs      *job.Store
	Worker    *job.Worker
	Credits   Credits
	Reports   Reports
	Figures   *stats.Store
	Terms     plan.Terms
	Source    Source // nil where the operator has joined none
	Turns     *provider.Turns
	PostLimit int // posts of each kind that a source is asked for at once; 200 where 0
	Log       *slog.Logger
}

// Service searches.
type Service struct {
	Options

	db *db.DB
}

const defaultPostLimit = 200

// New makes the service and says who does its jobs.
func New(o Options) *Service {
	if o.PostLimit == 0 {
		o.PostLimit = defaultPostLimit
	}
	s := &Service{Options: o, db: o.DB}
	o.Worker.Handle(job.HashtagSearch, s.run)
	return s
}

const day = 24 * time.Hour

// window is how long a keyword that was paid for is served again.
func (s *Service) window() time.Duration { return time.Duration(s.Terms.Limits.HashtagDays) * day }
