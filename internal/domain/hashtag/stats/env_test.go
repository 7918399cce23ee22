package stats_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

var began = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)

const (
	day  = 24 * time.Hour
	tick = time.Microsecond // the resolution of stored times
)

// env is a store with a clock and a scripted provider.
type env struct {
	t      *testing.T
	db     *db.DB
	clock  *testkit.Clock
	store  *stats.Store
	tells  func(provider.HashtagQuery) (provider.HashtagMetrics, error)
	listed map[string]bool

	mu       sync.Mutex
	requests []string
}

func forEachDatabase(t *testing.T, run func(w *env)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(began)
		d := testkit.Open(t, url, clock)
		run(&env{t: t, db: d, clock: clock, store: stats.New(d), listed: map[string]bool{}})
	})
}

// Hashtag returns the scripted response.
func (w *env) Hashtag(_ context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error) {
	w.mu.Lock()
	w.requests = append(w.requests, q.Platform+"/"+q.Hashtag)
	w.mu.Unlock()
	if !q.Background || q.PostLimit != 200 {
		w.t.Errorf("asked for %+v", q)
	}
	if w.tells == nil {
		return w.metrics(q.Hashtag, 100), nil
	}
	return w.tells(q)
}

func (w *env) metrics(hashtag string, size int64) provider.HashtagMetrics {
	return provider.HashtagMetrics{Hashtag: hashtag, Size: &size, MeasuredAt: w.db.Now(), From: w.db.Now().Add(-day),
		Recent: []provider.Post{{ID: "p" + hashtag, TakenAt: w.db.Now().Add(-time.Hour)}}}
}

func (w *env) background() *stats.Measurer {
	return stats.NewMeasurer(w.store, stats.Options{Source: w, Log: slog.New(slog.DiscardHandler),
		InAnyList: func(_ context.Context, _ db.Querier, platform, hashtag string) (bool, error) {
			return w.listed[platform+"/"+hashtag], nil
		}})
}

func (w *env) must(err error) {
	w.t.Helper()
	must.NoError(w.t, err)
}

func (w *env) write(work func(context.Context, *db.Tx) error) {
	w.t.Helper()
	w.must(w.db.InTx(w.t.Context(), "test", work))
}

func (w *env) enqueue(platform string, tags ...string) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error { return w.store.Enqueue(ctx, tx, platform, tags) })
}

func (w *env) record(platform string, f provider.HashtagMetrics) {
	w.t.Helper()
	learned := stats.Analyze(platform, f, w.db.Now())
	w.write(func(ctx context.Context, tx *db.Tx) error { return w.store.Record(ctx, tx, learned) })
}

func (w *env) recordPosts(posts ...provider.Post) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		return w.store.RecordPosts(ctx, tx, provider.Instagram, posts)
	})
}

func (w *env) get(platform string, tags ...string) map[string]stats.Statistics {
	w.t.Helper()
	found, err := w.store.Get(w.t.Context(), w.db, platform, tags)
	w.must(err)
	return found
}

// measureAll measures until nothing is due and returns the requested hashtags.
func (w *env) measureAll(b *stats.Measurer) []string {
	w.t.Helper()
	w.requests = nil
	for more := true; more; {
		var err error
		more, err = b.Measure(w.t.Context())
		w.must(err)
	}
	return w.requests
}

func (w *env) count(query string, args ...any) int {
	w.t.Helper()
	var n int
	w.must(w.db.QueryRow(w.t.Context(), query, args...).Scan(&n))
	return n
}

// queryLines returns rows of texts.
func (w *env) queryLines(query string) []string {
	w.t.Helper()
	found, err := db.All(w.t.Context(), w.db, func(rows *sql.Rows, line *string) error { return rows.Scan(line) },
		query)
	w.must(err)
	slices.Sort(found)
	return found
}

// audit checks the consistency of the stored posts.
func (w *env) audit() {
	w.t.Helper()
	if n := w.count(`SELECT COUNT(*) FROM hashtags h WHERE seen <> (SELECT COUNT(*) FROM hashtag_links l
		WHERE l.hashtag_id = h.id)`); n != 0 {
		w.t.Errorf("%d hashtags have a wrong number of posts", n)
	}
	if n := w.count(`SELECT COUNT(*) FROM hashtags WHERE seen = 0 AND due_at = 0 AND measured_at = 0`); n != 0 {
		w.t.Errorf("%d unused hashtags are stored", n)
	}
	if n := w.count(`SELECT COUNT(*) FROM hashtag_posts p WHERE NOT EXISTS (SELECT 1 FROM hashtag_links l
		WHERE l.post_id = p.id)`); n != 0 {
		w.t.Errorf("%d posts have no links", n)
	}
	for _, line := range w.queryLines(
		`SELECT p.platform || '|' || h.platform || '|' || h.hashtag || '|' || p.hashtags || '|' || p.found_by || '|'
		|| CAST(l.found AS TEXT)
		FROM hashtag_links l JOIN hashtags h ON h.id = l.hashtag_id JOIN hashtag_posts p ON p.id = l.post_id`) {
		part := strings.Split(line, "|")
		found := slices.Contains(strings.Fields(part[4]), part[2])
		if part[0] != part[1] || !slices.Contains(strings.Fields(part[3]), part[2]) || found != (part[5] == "1") {
			w.t.Errorf("invalid link: %s", line)
		}
	}
}

func post(id string, tags ...string) provider.Post { return provider.Post{ID: id, Hashtags: tags} }

func numberTags(what string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(what, i)
	}
	return out
}

var errBroken = errors.New("broken")
