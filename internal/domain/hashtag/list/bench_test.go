package list

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// BenchmarkOpen reads the largest list with all metrics, and pages of posts, as JSON.
func BenchmarkOpen(b *testing.B) {
	urls := map[string]func(testing.TB) string{"sqlite": testkit.SQLite}
	if os.Getenv(testkit.PostgresVariable) != "" {
		urls["postgres"] = testkit.Postgres
	}
	for name, url := range urls {
		b.Run(name, func(b *testing.B) {
			clock := testkit.NewClock(time.Date(2026, 3, 29, 8, 0, 0, 0, time.UTC))
			w := newEnv(b, testkit.Open(b, url(b), clock), clock).newTeam(b, "agency")
			w.Statistics = stats.New(w.db)
			posts := post.New(w.db, nil, nil, nil, nil, post.Limits{}, plan.Default()).Operations()
			for _, platform := range []string{"", "instagram"} {
				l := w.createLongList(b, platform)
				b.Run(fmt.Sprintf("list of 5000 %s", platform), func(b *testing.B) {
					w.runOperation(b, w.Operations()[1], fmt.Sprintf(`{"list_id":%d}`, l))
				})
			}
			w.createPosts(b)
			for _, limit := range []int{20, 50} {
				b.Run(fmt.Sprintf("page of %d posts", limit), func(b *testing.B) {
					w.runOperation(b, posts[0], fmt.Sprintf(`{"limit":%d}`, limit))
				})
			}
		})
	}
}

// runOperation runs an operation repeatedly.
func (w env) runOperation(b *testing.B, op operation.Operation, args string) {
	b.Helper()
	b.ReportAllocs()
	var body []byte
	for b.Loop() {
		answer, err := op.Run(b.Context(), w.call(op.Tool), []byte(args))
		must.NoError(b, err)
		data, brings := answer.Data.(operation.JSONEncoder)
		if !brings {
			body, err = operation.JSON(answer)
		} else {
			body, err = data.JSON()
		}
		must.NoError(b, err)
	}
	b.ReportMetric(float64(len(body)), "bytes")
}

// createLongList creates a list of 5,000 hashtags with metrics.
func (w env) createLongList(b *testing.B, platform string) int64 {
	b.Helper()
	tags := make([]string, 5000)
	for n := range tags {
		tags[n] = fmt.Sprintf("harbourcoffee%d", n)
	}
	l := w.mustCreate(b, CreateInput{Platform: platform, Hashtags: tags})
	w.exec(b, `ANALYZE`)
	w.exec(b, `UPDATE hashtags
		SET posts = id * 1000, posts_low = id * 900, posts_high = id * 1100, basis = 'estimated', posts_per_day = id
		* 1.5, score = 61.5, measured_at = 1 WHERE posts IS NULL`)
	return l.ID
}

// createPosts creates 1,000 posts to two accounts each.
func (w env) createPosts(b *testing.B) {
	b.Helper()
	for n := range 2 {
		w.exec(b,
			`INSERT INTO social_accounts (team_id, platform, network_id, username, display_name, connection_state,
		sealed_grant, created_at, updated_at)
			VALUES (?, 'bluesky', ?, 'harbour', 'Harbour', 'connected', '', 1, 1)`, w.team, formatID(int64(n)))
	}
	w.exec(b, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
		INSERT INTO posts (id, team_id, person_id, status, caption, excerpt, scheduled_at, slot_at, created_at, updated_at)
		SELECT 'post' || CAST(i AS TEXT), CAST(? AS BIGINT), 1, 'scheduled', 'A caption of some words',
		'A caption of some words', i, i + 0, 1, 1 FROM n`, w.team)
	w.exec(b, `INSERT INTO post_targets (post_id, account_id, position) SELECT p.id, a.id, a.id FROM posts p
		JOIN social_accounts a ON a.team_id = p.team_id`)
}

func (w env) exec(b *testing.B, statement string, args ...any) {
	b.Helper()
	must.NoError(b, w.db.InTx(b.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}
