package delivery

import (
	"context"
	"database/sql"
	"os"
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// BenchmarkBurst publishes 1,000 posts of ten teams, all due at the same time, on a network without delay. It reports
// deliveries per second and lateness.
func BenchmarkBurst(b *testing.B) { benchmarkEachDatabase(b, 100, 0) }

// BenchmarkStream publishes 100 posts, one every 120 ms: five times the load of 100 posts per minute.
func BenchmarkStream(b *testing.B) { benchmarkEachDatabase(b, 10, 120*time.Millisecond) }

func benchmarkEachDatabase(b *testing.B, postsPerTeam int, interval time.Duration) {
	b.Helper()
	databases := map[string]func(testing.TB) string{"sqlite": testkit.SQLite}
	if os.Getenv(testkit.PostgresVariable) != "" {
		databases["postgres"] = testkit.Postgres
	}
	for name, newDatabase := range databases {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				deliver(b, testkit.Open(b, newDatabase(b), nil), postsPerTeam, interval)
			}
		})
	}
}

func deliver(b *testing.B, d *db.DB, postsPerTeam int, interval time.Duration) {
	b.Helper()
	const teams = 10
	n := &memoryNetwork{platform: "bluesky"}
	p := newMultiEnv(b, d, teams, DefaultOptions, n)
	for team := range teams {
		p.scheduleDue(b, team, 0, postsPerTeam)
	}
	start := time.Now()
	p.spreadTimes(b, start, interval)
	stop := p.start(b)
	p.waitUntil(b, func() bool { return p.countOpen(b) == 0 })
	elapsed := time.Since(start)
	stop()
	late, err := db.All(context.Background(), d, func(rows *sql.Rows, late *int64) error {
		return rows.Scan(late)
	}, `SELECT published_at - scheduled_at FROM posts`)
	if err != nil || n.postCount() != teams*postsPerTeam || n.maxCopies() != 1 {
		b.Fatalf("%d published, %v", n.postCount(), err)
	}
	slices.Sort(late)
	b.ReportMetric(float64(len(late))/elapsed.Seconds(), "deliveries/s")
	b.ReportMetric(float64(late[len(late)*99/100])/1e6, "p99-late-s")
}

// spreadTimes schedules the posts one after the other.
func (p *multiEnv) spreadTimes(tb testing.TB, from time.Time, interval time.Duration) {
	tb.Helper()
	must.NoError(tb, p.db.InTx(tb.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE posts SET scheduled_at = ? + ? * (SELECT COUNT(*) FROM posts before
			WHERE before.id < posts.id)`, db.Micros(from), interval.Microseconds())
		return err
	}))
}
