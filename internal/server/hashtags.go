package server

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/domain/hashtag/search"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// buildHashtags builds the services for hashtag lists, hashtag searches and background measurements.
func (s *Server) buildHashtags(providers sources, catalog plan.Catalog) error {
	var err error
	if s.Lists, err = list.New(list.Options{
		DB: s.db, Statistics: s.hashtagStats, Catalog: catalog, HasProvider: !providers.empty(),
	}); err != nil {
		return fmt.Errorf("reading the banned hashtags of the plans: %w", err)
	}
	o := search.Options{
		DB: s.db, Jobs: s.jobs, Worker: s.worker, Credits: s.Credits, Reports: s.Reports, Statistics: s.hashtagStats,
		Catalog: catalog, Limiter: s.limiter, Log: s.cfg.Log,
	}
	if !providers.empty() {
		source, err := providers.metrics()
		if err != nil {
			return fmt.Errorf("joining providers: %w", err)
		}
		o.Source = source
		s.measurer = stats.NewMeasurer(s.hashtagStats, stats.Options{
			Source: source, MaxAge: time.Duration(catalog.Limits.HashtagDays) * 24 * time.Hour,
			InAnyList: s.Lists.InAnyList, Limiter: s.limiter, Log: s.cfg.Log,
			ReadyMade: s.Lists.ReadyMadeHashtags, ReadyMadeInterval: s.cfg.ReadyMadeInterval,
		})
	}
	s.Searches = search.New(o)
	return nil
}

// hashtagObserver records information about hashtags from reports and collected posts.
type hashtagObserver struct {
	db           *db.DB
	hashtagStats *stats.Store
}

// Hashtag records statistics of a hashtag.
func (o hashtagObserver) Hashtag(ctx context.Context, platform string, f provider.HashtagMetrics) error {
	hashtagStats := stats.Analyze(platform, f, o.db.Now())
	return o.db.InTx(ctx, "hashtag.learned", func(ctx context.Context, tx *db.Tx) error {
		return o.hashtagStats.Record(ctx, tx, hashtagStats)
	})
}

// Posts records the hashtags of posts.
func (o hashtagObserver) Posts(ctx context.Context, platform string, posts []provider.Post) error {
	return o.db.InTx(ctx, "hashtag.seen", func(ctx context.Context, tx *db.Tx) error {
		return o.hashtagStats.RecordPosts(ctx, tx, platform, posts)
	})
}

// recordCollected records the hashtags in posts of connected accounts, if the network has hashtag statistics.
func (o hashtagObserver) recordCollected(ctx context.Context, platform string, collected []network.CollectedPost) error {
	if platform != provider.Instagram && platform != provider.TikTok {
		return nil
	}
	posts := make([]provider.Post, len(collected))
	for i, p := range collected {
		posts[i] = provider.Post{ID: p.ID, TakenAt: p.PostedAt, Caption: p.Text}
	}
	return o.Posts(ctx, platform, posts)
}
