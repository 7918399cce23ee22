package stats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	// defaultReadyMadeInterval is the minimum time between measurements of ready-made hashtags on a platform.
	defaultReadyMadeInterval = 10 * time.Minute
	// readyMadeMaxAge is longer than the maximum age of hashtags that teams request, because there are thousands of
	// ready-made hashtags.
	readyMadeMaxAge = 30 * 24 * time.Hour
)

// measureReadyMade measures the next due hashtag of the ready-made lists and reports whether there was one. Call it
// only if no other hashtag is due.
func (m *Measurer) measureReadyMade(ctx context.Context, platform string) (bool, error) {
	tags := m.opts.ReadyMade(platform)
	if len(tags) == 0 || m.isPaused(readyMadePrefix+platform) {
		return false, nil
	}
	var position, nextAt int64
	if err := m.store.db.QueryRow(ctx, `SELECT place, next_at FROM hashtag_ready WHERE platform = ?`, platform).
		Scan(&position, &nextAt); err != nil {
		return false, fmt.Errorf("reading the position in the ready-made hashtags: %w", err)
	}
	now := m.store.db.Now()
	if db.Time(nextAt).After(now) {
		return false, nil
	}
	statistics, err := m.store.Get(ctx, m.store.db, platform, tags)
	if err != nil {
		return false, err
	}
	index, found := nextDue(tags, int(position), func(name string) bool {
		return statistics[name].MeasuredAt.Before(now.Add(-readyMadeMaxAge))
	})
	claimed, err := m.advanceReadyMade(ctx, platform, position, int64(index+1))
	if err != nil || !claimed || !found {
		return false, err
	}
	return true, m.measureOneReadyMade(ctx, platform, tags[index])
}

// nextDue returns the index of the first due hashtag, starting at from and wrapping around. It reports false if none is
// due.
func nextDue(tags []string, from int, isDue func(string) bool) (int, bool) {
	for i := range tags {
		if at := (from + i) % len(tags); isDue(tags[at]) {
			return at, true
		}
	}
	return from, false
}

// advanceReadyMade moves the position in the ready-made hashtags of a platform and reports whether this node was the
// first to do so.
func (m *Measurer) advanceReadyMade(ctx context.Context, platform string, oldPosition, newPosition int64) (bool, error) {
	var n int64
	err := m.store.db.InTx(ctx, "hashtag.ready", func(ctx context.Context, tx *db.Tx) error {
		var err error
		n, err = tx.Exec(ctx, `UPDATE hashtag_ready SET place = ?, next_at = ? WHERE platform = ? AND place = ?
			AND next_at <= ?`,
			newPosition, db.Micros(tx.Now().Add(m.opts.ReadyMadeInterval)), platform, oldPosition, db.Micros(tx.Now()))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("advancing the position in the ready-made hashtags: %w", err)
	}
	return n == 1, nil
}

// measureOneReadyMade measures a ready-made hashtag. After a failure, the hashtag is due again after all others.
func (m *Measurer) measureOneReadyMade(ctx context.Context, platform, hashtag string) error {
	c := claim{platform: platform, hashtag: hashtag}
	defer m.recoverPanic(ctx, c)
	ctx, end := m.opts.Limiter.Begin(ctx)
	defer end()
	metrics, err := m.fetch(ctx, provider.HashtagQuery{Platform: platform, Hashtag: hashtag,
		PostLimit:  m.opts.PostLimit,
		Background: true, LowPriority: true})
	unavailableErr, isUnavailable := errors.AsType[*provider.UnavailableError](err)
	switch {
	case ctx.Err() != nil || errors.Is(err, provider.ErrNotFound):
		return nil
	case errors.Is(err, provider.ErrNotOffered):
		m.pause(readyMadePrefix+platform, unsupportedPause)
		return nil
	case isUnavailable:
		m.pause(readyMadePrefix+platform, min(max(unavailableErr.After, defaultPause), maxPause))
		return nil
	case err != nil:
		return fmt.Errorf("measuring a ready-made hashtag: %w", err)
	}
	return m.save(ctx, c, metrics)
}
