package stats

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/report/hashtaganalysis"
	"pressroom/internal/platform/db"
)

// measuredPreference is how long a size that was measured is better than an estimate that is newer by less: the same time for which
// package tag takes it for the present's.
const measuredPreference = 14 * 24 * time.Hour

// Observation is what a source's answer tells of a hashtag, worked out and ready to be kept.
type Observation struct {
	Figures Figures
	Posts   []TaggedPost // that stand under it
}

// Analyze works out what a source told of a hashtag. It takes some milliseconds of a processor and no database, so that it is
// done before the transaction that keeps it.
func Analyze(platform string, f provider.HashtagFigures, now time.Time) Observation {
	if f.MeasuredAt.IsZero() || f.MeasuredAt.After(now) {
		f.MeasuredAt = now // a clock that is ahead must not keep what comes later from counting as newer
	}
	found := hashtaganalysis.Analyze(hashtaganalysis.Input{Figures: f})
	told := Figures{Platform: platform, Hashtag: f.Hashtag, Posts: found.Hashtag.Posts, MeasuredAt: f.MeasuredAt.UTC().Truncate(time.Microsecond)}
	if rate := found.Hashtag.PostsPerDay; rate != nil {
		told.PostsPerDay = &rate.Value
	}
	if found.Score != nil {
		told.Score = &found.Score.Value
	}
	return Observation{Figures: told, Posts: taggedPosts(slices.Concat(f.Top, f.Recent), f.Hashtag)}
}

// storedFigures is what is kept of a hashtag: the size may be of an earlier time than the rest.
type storedFigures struct {
	Figures

	postsAt time.Time
}

// merge is what is known once something was told as well. In whatever order it is told, the same comes out.
func (k storedFigures) merge(told Figures) storedFigures {
	if told.Posts != nil && k.acceptsSize(told.Posts.Basis, told.MeasuredAt) {
		k.Posts, k.postsAt = told.Posts, told.MeasuredAt
	}
	if told.MeasuredAt.After(k.MeasuredAt) {
		k.PostsPerDay, k.Score, k.MeasuredAt = told.PostsPerDay, told.Score, told.MeasuredAt
	}
	return k
}

// acceptsSize tells whether the size gives way to one that was told at a time. The newer one stands, but that an estimate has to
// be newer by a while than what was measured.
func (k storedFigures) acceptsSize(basis string, at time.Time) bool {
	switch {
	case k.Posts == nil:
		return true
	case basis == k.Posts.Basis:
		return at.After(k.postsAt)
	case basis == hashtaganalysis.Measured:
		return k.postsAt.Sub(at) < measuredPreference
	}
	return at.Sub(k.postsAt) >= measuredPreference
}

// Record keeps what was learned, with which hashtags the posts carry. Figures of an earlier time replace no later ones, in
// whatever order they come.
func (s *Store) Record(ctx context.Context, tx *db.Tx, l Observation) error {
	told := l.Figures
	if err := s.updatePosts(ctx, tx, told.Platform, l.Posts, told.Hashtag); err != nil {
		return err
	}
	held, err := s.lockHashtags(ctx, tx, told.Platform, []string{told.Hashtag})
	if err != nil {
		return err
	}
	id := held[told.Hashtag]
	var now storedFigures
	var postsAt int64
	err = now.scan(func(into ...any) error {
		return tx.QueryRow(ctx, `SELECT `+columns+`, posts_at FROM hashtags WHERE id = ?`, id).Scan(append(into, &postsAt)...)
	})
	if err != nil {
		return fmt.Errorf("reading the figures of a hashtag: %w", err)
	}
	now.postsAt = db.Time(postsAt)
	if err := now.merge(told).write(ctx, tx, id); err != nil {
		return err
	}
	// Last of all: everybody who keeps figures of the platform holds this row until the end.
	if _, err := tx.Exec(ctx, `UPDATE hashtag_versions SET version = version + 1 WHERE platform = ?`, told.Platform); err != nil {
		return fmt.Errorf("counting the changes of hashtags' figures: %w", err)
	}
	return nil
}

// Version changes with every figure of a platform, or of any where it is empty: what Of said stands while it stays.
func (s *Store) Version(ctx context.Context, q db.Querier, platform string) (int64, error) {
	var version int64
	err := q.QueryRow(ctx, `SELECT CAST(SUM(version) AS BIGINT) FROM hashtag_versions WHERE platform = ? OR ? = ''`, platform, platform).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("reading the version of hashtags' figures: %w", err)
	}
	return version, nil
}

// write keeps it. Whoever measures the hashtag in the background is done with it.
func (k storedFigures) write(ctx context.Context, tx *db.Tx, id int64) error {
	var count, low, high *int64
	basis := ""
	if k.Posts != nil {
		count, low, high, basis = &k.Posts.Count, k.Posts.Low, k.Posts.High, k.Posts.Basis
	}
	_, err := tx.Exec(ctx, `UPDATE hashtags SET posts = ?, posts_low = ?, posts_high = ?, basis = ?, posts_at = ?, posts_per_day = ?, score = ?, measured_at = ?,
		missing_at = 0, fails = 0, due_at = CASE WHEN due_at = 0 THEN 0 ELSE CAST(? AS BIGINT) END WHERE id = ?`,
		toNull(count), toNull(low), toNull(high), basis, db.Micros(k.postsAt), toNull(k.PostsPerDay), toNull(k.Score), db.Micros(k.MeasuredAt), db.Micros(tx.Now()), id)
	if err != nil {
		return fmt.Errorf("keeping the figures of a hashtag: %w", err)
	}
	return nil
}

// toNull is a figure as it is stored.
func toNull[T any](figure *T) sql.Null[T] {
	if figure == nil {
		return sql.Null[T]{}
	}
	return sql.Null[T]{V: *figure, Valid: true}
}
