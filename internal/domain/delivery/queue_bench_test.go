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

// BenchmarkBurst publishes a thousand posts of ten teams that are due at once to an instant network, to measure the
// overhead. It reports deliveries per second and lateness.
func BenchmarkBurst(b *testing.B) { onEach(b, 100, 0) }

// BenchmarkStream publishes a hundred posts, one due every 120 ms: five times a load of a hundred per minute.
func BenchmarkStream(b *testing.B) { onEach(b, 10, 120*time.Millisecond) }

func onEach(b *testing.B, each int, apart time.Duration) {
	b.Helper()
	databases := map[string]func(testing.TB) string{"sqlite": testkit.SQLite}
	if os.Getenv(testkit.PostgresVariable) != "" {
		databases["postgres"] = testkit.Postgres
	}
	for name, fresh := range databases {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				deliver(b, testkit.Open(b, fresh(b), nil), each, apart)
			}
		})
	}
}

func deliver(b *testing.B, d *db.DB, each int, apart time.Duration) {
	b.Helper()
	const teams = 10
	n := &memoryNetwork{platform: "bluesky"}
	p := newMultiEnv(b, d, teams, DefaultOptions, n)
	for team := range teams {
		p.scheduleDue(b, team, 0, each)
	}
	began := time.Now()
	p.spreadTimes(b, began, apart)
	stop := p.start(b)
	p.waitUntil(b, func() bool { return p.countOpen(b) == 0 })
	took := time.Since(began)
	stop()
	late, err := db.All(context.Background(), d, func(rows *sql.Rows, late *int64) error {
		return rows.Scan(late)
	}, `SELECT published_at - scheduled_at FROM posts`)
	if err != nil || n.count() != teams*each || n.most() != 1 {
		b.Fatalf("%d held, %v", n.count(), err)
	}
	slices.Sort(late)
	b.ReportMetric(float64(len(late))/took.Seconds(), "deliveries/s")
	b.ReportMetric(float64(late[len(late)*99/100])/1e6, "p99-late-s")
}

// spreadTimes has the posts due one after the other.
func (p *multiEnv) spreadTimes(tb testing.TB, from time.Time, apart time.Duration) {
	tb.Helper()
	must.NoError(tb, p.db.InTx(tb.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE posts SET scheduled_at = ? + ? * (SELECT COUNT(*) FROM posts before
			WHERE before.id < posts.id)`, db.Micros(from), apart.Microseconds())
		return err
	}))
}
