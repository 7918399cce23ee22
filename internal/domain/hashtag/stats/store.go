package stats

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/platform/db"
)

// Store reads and writes hashtag statistics.
type Store struct{ db *db.DB }

// New returns a Store that uses a migrated database.
func New(d *db.DB) *Store { return &Store{db: d} }

// platforms are the supported platforms. Lookups without a platform prefer the first one that has data.
var platforms = []string{provider.Instagram, provider.TikTok}

// turnSpacing is the distance in the queue between consecutive hashtags of a call, so that a list of thousands of
// hashtags does not delay a shorter list that is created later.
const turnSpacing = 24 * time.Hour

// demandRefresh is how long after a recorded request for a hashtag further requests are not recorded.
const demandRefresh = 24 * time.Hour

// Enqueue requests that hashtags be measured in the background, the most important first, and adds unknown hashtags. An
// empty platform means all platforms.
func (s *Store) Enqueue(ctx context.Context, tx *db.Tx, platform string, tags []string) error {
	return s.enqueue(ctx, tx, platform, tags, 0)
}

// enqueueBatch is how many hashtags one transaction of EnqueueInBatches adds. Each has about a dozen index rows.
const enqueueBatch = 500

// EnqueueInBatches is like Enqueue, but in separate transactions. SQLite allows only one writer at a time, and
// thousands of new hashtags would block the others for a second. A later Enqueue of the same hashtags does not write
// anything.
func (s *Store) EnqueueInBatches(ctx context.Context, platform string, tags []string) error {
	for start := 0; start < len(tags); start += enqueueBatch {
		err := s.db.InTx(ctx, "figure.want_ahead", func(ctx context.Context, tx *db.Tx) error {
			return s.enqueue(ctx, tx, platform, tags[start:min(start+enqueueBatch, len(tags))], start)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// enqueue is like Enqueue. firstIndex is the index of the first hashtag in a call to EnqueueInBatches.
func (s *Store) enqueue(ctx context.Context, tx *db.Tx, platform string, tags []string, firstIndex int) error {
	if len(tags) == 0 {
		return nil
	}
	turnTimes := make(map[string]int64, len(tags))
	for i, name := range tags {
		if _, seen := turnTimes[name]; !seen {
			turnTimes[name] = db.Micros(tx.Now().Add(time.Duration(firstIndex+i) * turnSpacing))
		}
	}
	for _, p := range platforms {
		if platform != "" && platform != p {
			continue
		}
		if err := s.enqueueOn(ctx, tx, p, turnTimes); err != nil {
			return err
		}
	}
	return nil
}

// enqueueOn requests hashtags on one platform. It upserts their rows in one statement, in the order that all
// transactions use to lock them.
func (s *Store) enqueueOn(ctx context.Context, tx *db.Tx, platform string, turnTimes map[string]int64) error {
	list, err := toJSON(turnTimes)
	if err != nil {
		return err
	}
	now := db.Micros(tx.Now())
	_, err = tx.Exec(ctx, `INSERT INTO hashtags (platform, hashtag, wanted_at, due_at, turn)
		SELECT ?, key, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(CAST(value AS TEXT) AS BIGINT) FROM json_each(?)
		WHERE true ORDER BY key
		ON CONFLICT (platform, hashtag) DO UPDATE SET wanted_at = excluded.wanted_at,
			due_at = CASE WHEN hashtags.due_at = 0 THEN excluded.due_at ELSE hashtags.due_at END,
			turn = CASE WHEN hashtags.due_at = 0 OR hashtags.turn > excluded.turn THEN excluded.turn ELSE hashtags.turn END
		WHERE hashtags.due_at = 0 OR hashtags.wanted_at < ?`,
		platform, now, now, list, db.Micros(tx.Now().Add(-demandRefresh)))
	if err != nil {
		return fmt.Errorf("requesting hashtags: %w", err)
	}
	return nil
}

// lockHashtags inserts missing hashtags, locks the rows of all hashtags, and returns their IDs. To avoid deadlocks, all
// transactions lock hashtags in the same order, and after posts.
func (s *Store) lockHashtags(ctx context.Context, tx *db.Tx, platform string, tags []string) (map[string]int64, error) {
	list, err := toJSON(positions(tags))
	if err != nil {
		return nil, err
	}
	ids := make(map[string]int64, len(tags))
	for range 3 { // a row may be deleted between the two statements
		_, err := tx.Exec(ctx, `INSERT INTO hashtags (platform, hashtag) SELECT ?, key FROM json_each(?) WHERE true
			ORDER BY key ON CONFLICT DO NOTHING`, platform, list)
		if err != nil {
			return nil, fmt.Errorf("adding hashtags: %w", err)
		}
		rows, err := db.AllSized(ctx, tx, len(tags), func(rows *sql.Rows, r *row) error {
			return rows.Scan(&r.id, &r.name)
		},
			`SELECT id, hashtag FROM hashtags WHERE platform = ? AND hashtag IN (SELECT key FROM json_each(?))
				ORDER BY hashtag`+s.db.ForUpdate(), platform, list)
		if err != nil {
			return nil, fmt.Errorf("locking hashtags: %w", err)
		}
		if len(rows) < len(tags) {
			continue
		}
		for _, r := range rows {
			ids[r.name] = r.id
		}
		return ids, nil
	}
	return nil, errors.New("locking hashtags: rows are deleted faster than they are inserted")
}

type row struct {
	id   int64
	name string
}

// columns are read by Statistics.scan.
const columns = `platform, hashtag, posts, posts_low, posts_high, basis, posts_per_day, score, measured_at`

func (s *Statistics) scan(scan func(...any) error) error {
	var count, low, high sql.NullInt64
	var basis string
	var at int64
	if err := scan(&s.Platform, &s.Hashtag, &count, &low, &high, &basis, &s.PostsPerDay, &s.Score, &at); err != nil {
		return err
	}
	s.MeasuredAt = db.Time(at)
	if count.Valid {
		s.Posts = &hashtaganalysis.TagPosts{Count: count.Int64, Basis: basis}
	}
	if count.Valid && low.Valid && high.Valid {
		s.Posts.Low, s.Posts.High = &low.Int64, &high.Int64
	}
	return nil
}

const getQuery = `SELECT ` + columns + ` FROM hashtags WHERE platform = ? AND hashtag IN (SELECT key FROM json_each(?))
	AND measured_at > 0`

// Get returns the statistics of hashtags by name. Unmeasured hashtags are omitted. If platform is empty, Get prefers
// Instagram statistics to TikTok statistics.
func (s *Store) Get(ctx context.Context, q db.Querier, platform string, tags []string) (map[string]Statistics, error) {
	out := make(map[string]Statistics, len(tags))
	if len(tags) == 0 {
		return out, nil
	}
	list, err := toJSON(positions(tags))
	if err != nil {
		return nil, err
	}
	for _, p := range platforms {
		if platform != "" && platform != p {
			continue
		}
		statistics, err := db.AllSized(ctx, q, len(tags), func(rows *sql.Rows, f *Statistics) error { return f.scan(rows.Scan) },
			getQuery, p, list)
		if err != nil {
			return nil, fmt.Errorf("reading the statistics of hashtags: %w", err)
		}
		for _, f := range statistics {
			if _, known := out[f.Hashtag]; !known {
				out[f.Hashtag] = f
			}
		}
	}
	return out, nil
}

// positions maps each name to its index.
func positions(tags []string) map[string]int64 {
	out := make(map[string]int64, len(tags))
	for i, name := range tags {
		out[name] = int64(i)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// toJSON returns rows as a JSON object for json_each, which passes any number of rows in one parameter on both
// databases.
func toJSON[K comparable, V any](rows map[K]V) (string, error) {
	text, err := json.Marshal(rows)
	if err != nil {
		return "", fmt.Errorf("encoding rows: %w", err)
	}
	return string(text), nil
}
