// Package search finds hashtags for a keyword. The result has the keyword's own hashtags, which are made of its words
// and measured by a provider, and known hashtags that match the keyword or are related to its own hashtags. A team pays
// for a keyword on a platform once per data window.
package search

import (
	"context"
	"log/slog"
	"time"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
)

// Source is a provider of hashtag metrics. See package provider for its errors.
type Source interface {
	Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error)
}

// Credits settles reservations in the team's wallet.
type Credits interface {
	Charge(ctx context.Context, tx *db.Tx, reservation int64) (bool, error)
	Refund(ctx context.Context, tx *db.Tx, reservation int64) (bool, error)
}

// Reports finds a team's report on a hashtag. MeasuredAt returns when the report's metrics were measured, or the zero
// time if there is no report.
type Reports interface {
	MeasuredAt(ctx context.Context, q db.Querier, team int64, platform, hashtag string) (time.Time, error)
}

// Options holds the dependencies of a Service.
type Options struct {
	DB         *db.DB
	Jobs       *job.Store
	Worker     *job.Worker
	Credits    Credits
	Reports    Reports
	Statistics *stats.Store
	Catalog    plan.Catalog
	Source     Source // nil if no provider is configured
	Limiter    *provider.Limiter
	PostLimit  int // maximum number of top posts, and of recent posts, to request; default 200
	Log        *slog.Logger
}

// Service implements hashtag search.
type Service struct {
	Options

	db *db.DB
}

const defaultPostLimit = 200

// New returns a Service and registers its job handler.
func New(o Options) *Service {
	if o.PostLimit == 0 {
		o.PostLimit = defaultPostLimit
	}
	s := &Service{Options: o, db: o.DB}
	o.Worker.Handle(job.HashtagSearch, s.run)
	return s
}

const day = 24 * time.Hour

// window returns how long a paid keyword can be searched again for free.
func (s *Service) window() time.Duration { return time.Duration(s.Catalog.Limits.HashtagDays) * day }
