package stats

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/platform/db"
)

// measuredPreference is how long a measured size is preferred to a newer estimate. It is also how long package
// hashtaganalysis considers a measured size current.
const measuredPreference = 14 * 24 * time.Hour

// Observation is the analysis of a provider's response, ready to be stored.
type Observation struct {
	Statistics Statistics
	Posts      []TaggedPost // published under the hashtag
}

// Analyze analyzes a provider's response. It takes a few milliseconds of CPU time and does not use the database, so
// call it before the transaction that stores the result.
func Analyze(platform string, f provider.HashtagMetrics, now time.Time) Observation {
	if f.MeasuredAt.IsZero() || f.MeasuredAt.After(now) {
		f.MeasuredAt = now // with a time in the future, later measurements would look older
	}
	analysis := hashtaganalysis.Analyze(hashtaganalysis.Input{Metrics: f})
	statistics := Statistics{Platform: platform, Hashtag: f.Hashtag, Posts: analysis.Hashtag.Posts,
		MeasuredAt: f.MeasuredAt.UTC().Truncate(time.Microsecond)}
	if rate := analysis.Hashtag.PostsPerDay; rate != nil {
		statistics.PostsPerDay = &rate.Value
	}
	if analysis.Score != nil {
		statistics.Score = &analysis.Score.Value
	}
	return Observation{Statistics: statistics, Posts: taggedPosts(slices.Concat(f.Top, f.Recent), f.Hashtag)}
}

// storedStatistics are the stored statistics of a hashtag. The number of posts may be older than the rest.
type storedStatistics struct {
	Statistics

	postsAt time.Time // when Posts was measured or estimated
}

// merge returns the statistics updated with a measurement. The result does not depend on the order of measurements.
func (s storedStatistics) merge(newer Statistics) storedStatistics {
	if newer.Posts != nil && s.acceptsSize(newer.Posts.Basis, newer.MeasuredAt) {
		s.Posts, s.postsAt = newer.Posts, newer.MeasuredAt
	}
	if newer.MeasuredAt.After(s.MeasuredAt) {
		s.PostsPerDay, s.Score, s.MeasuredAt = newer.PostsPerDay, newer.Score, newer.MeasuredAt
	}
	return s
}

// acceptsSize reports whether a size with the given basis and time replaces the stored size. The newer size wins, but
// an estimate must be newer than a measured size by measuredPreference.
func (s storedStatistics) acceptsSize(basis string, at time.Time) bool {
	switch {
	case s.Posts == nil:
		return true
	case basis == s.Posts.Basis:
		return at.After(s.postsAt)
	case basis == hashtaganalysis.Measured:
		return s.postsAt.Sub(at) < measuredPreference
	}
	return at.Sub(s.postsAt) >= measuredPreference
}

// Record stores an observation. An older observation never replaces newer statistics.
func (s *Store) Record(ctx context.Context, tx *db.Tx, o Observation) error {
	measured := o.Statistics
	if err := s.updatePosts(ctx, tx, measured.Platform, o.Posts, measured.Hashtag); err != nil {
		return err
	}
	ids, err := s.lockHashtags(ctx, tx, measured.Platform, []string{measured.Hashtag})
	if err != nil {
		return err
	}
	id := ids[measured.Hashtag]
	var stored storedStatistics
	var postsAt int64
	err = stored.scan(func(dst ...any) error {
		return tx.QueryRow(ctx, `SELECT `+columns+`, posts_at FROM hashtags WHERE id = ?`, id).
			Scan(append(dst, &postsAt)...)
	})
	if err != nil {
		return fmt.Errorf("reading the statistics of a hashtag: %w", err)
	}
	stored.postsAt = db.Time(postsAt)
	if err := stored.merge(measured).write(ctx, tx, id); err != nil {
		return err
	}
	// Update this row last, because other writers of the platform wait for its lock until this transaction ends.
	if _, err := tx.Exec(ctx, `UPDATE hashtag_versions SET version = version + 1 WHERE platform = ?`,
		measured.Platform); err != nil {
		return fmt.Errorf("incrementing the version of hashtag statistics: %w", err)
	}
	return nil
}

// Version returns a number that changes whenever the platform's statistics change. If platform is empty, the number
// changes whenever the statistics of any platform change. Results of Get may be cached while the version is unchanged.
func (s *Store) Version(ctx context.Context, q db.Querier, platform string) (int64, error) {
	var version int64
	err := q.QueryRow(ctx, `SELECT CAST(SUM(version) AS BIGINT) FROM hashtag_versions WHERE platform = ? OR ? = ''`,
		platform, platform).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("reading the version of hashtag statistics: %w", err)
	}
	return version, nil
}

// write updates the row of a hashtag and makes it due for the next measurement.
func (s storedStatistics) write(ctx context.Context, tx *db.Tx, id int64) error {
	var count, low, high *int64
	basis := ""
	if s.Posts != nil {
		count, low, high, basis = &s.Posts.Count, s.Posts.Low, s.Posts.High, s.Posts.Basis
	}
	_, err := tx.Exec(ctx,
		`UPDATE hashtags
		SET posts = ?, posts_low = ?, posts_high = ?, basis = ?, posts_at = ?, posts_per_day = ?, score = ?,
		measured_at = ?,
		missing_at = 0, fails = 0, due_at = CASE WHEN due_at = 0 THEN 0 ELSE CAST(? AS BIGINT) END WHERE id = ?`,
		toNull(count), toNull(low), toNull(high), basis, db.Micros(s.postsAt), toNull(s.PostsPerDay), toNull(s.Score),
		db.Micros(s.MeasuredAt), db.Micros(tx.Now()), id)
	if err != nil {
		return fmt.Errorf("storing the statistics of a hashtag: %w", err)
	}
	return nil
}

// toNull converts a pointer to a nullable column value.
func toNull[T any](value *T) sql.Null[T] {
	if value == nil {
		return sql.Null[T]{}
	}
	return sql.Null[T]{V: *value, Valid: true}
}
