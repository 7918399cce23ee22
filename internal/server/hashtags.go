package server

import (
	"context"
	"fmt"
	"time"

	"pressroom/internal/core/plan"
	"pressroom/internal/domain/hashtag/list"
	"pressroom/internal/domain/hashtag/search"
	"pressroom/internal/domain/hashtag/stats"
	"pressroom/internal/domain/provider"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

// buildHashtags makes what keeps lists of hashtags, searches for them, and measures in the background what lists hold
// and searches asked for.
func (s *Server) buildHashtags(from sources, offered plan.Terms) error {
	var err error
	if s.Lists, err = list.New(list.Options{
		DB: s.db, Figures: s.figures, Terms: offered, HasSource: !from.none(),
	}); err != nil {
		return fmt.Errorf("the hashtags that the terms ban: %w", err)
	}
	o := search.Options{
		DB: s.db, Jobs: s.jobs, Worker: s.worker, Credits: s.Credits, Reports: s.Reports, Figures: s.figures,
		Terms: offered, Limiter: s.limiter, Log: s.cfg.Log,
	}
	if !from.none() {
		figures, err := from.figures()
		if err != nil {
			return fmt.Errorf("joining the sources: %w", err)
		}
		o.Source = figures
		s.measuring = stats.NewMeasurer(s.figures, stats.Options{
			Source: figures, MaxAge: time.Duration(offered.Limits.HashtagDays) * 24 * time.Hour,
			InAnyList: s.Lists.InAnyList, Limiter: s.limiter, Log: s.cfg.Log,
			ReadyMade: s.Lists.ReadyMadeHashtags, ReadyMadeInterval: s.cfg.MeasureReadyEvery,
		})
	}
	s.Searches = search.New(o)
	return nil
}

// hearer keeps what reports and collected posts tell of hashtags.
type hearer struct {
	db      *db.DB
	figures *stats.Store
}

// Hashtag keeps what a source told of a hashtag.
func (h hearer) Hashtag(ctx context.Context, platform string, f provider.HashtagFigures) error {
	learned := stats.Analyze(platform, f, h.db.Now())
	return h.db.InTx(ctx, "hashtag.learned", func(ctx context.Context, tx *db.Tx) error {
		return h.figures.Record(ctx, tx, learned)
	})
}

// Posts remembers which hashtags posts carry.
func (h hearer) Posts(ctx context.Context, platform string, posts []provider.Post) error {
	return h.db.InTx(ctx, "hashtag.seen", func(ctx context.Context, tx *db.Tx) error {
		return h.figures.RecordPosts(ctx, tx, platform, posts)
	})
}

// collected remembers which hashtags the posts of connected accounts carry, where hashtags are looked after.
func (h hearer) collected(ctx context.Context, platform string, told []network.Figures) error {
	if platform != provider.Instagram && platform != provider.TikTok {
		return nil
	}
	posts := make([]provider.Post, len(told))
	for i, p := range told {
		posts[i] = provider.Post{ID: p.ID, TakenAt: p.PostedAt, Caption: p.Text}
	}
	return h.Posts(ctx, platform, posts)
}
