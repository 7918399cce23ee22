package networks

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// BenchmarkRush publishes 1,000 posts to nine networks that are all due at once, and then 100 posts that are due
// within a minute. It reports the duration and the 99th percentile of lateness.
func BenchmarkRush(b *testing.B) {
	urls := map[string]func(testing.TB) string{"sqlite": testkit.SQLite}
	if os.Getenv(testkit.PostgresVariable) != "" {
		urls["postgres"] = testkit.Postgres
	}
	for name, url := range urls {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := &rush{env: newEnvAs(b, url(b), server.RoleAll, 0)}
				r.publishAll(1000, 0)
				b.ReportMetric(slices.Max(r.late()).Seconds(), "s/1000-at-once")
				r.publishAll(100, 600*time.Millisecond)
				late := r.late()
				slices.Sort(late)
				b.ReportMetric(late[len(late)*99/100].Seconds(), "s-late-p99-at-100-a-minute")
			}
		})
	}
}

// rush is an env with posts that fall due in quick succession.
type rush struct {
	*env

	ids []any
}

// publishAll schedules posts at the given interval and waits until they are published.
func (r *rush) publishAll(many int, apart time.Duration) {
	r.t.Helper()
	r.ids = nil
	due := time.Now().Add(2*time.Second + time.Duration(many)*12*time.Millisecond)
	for n := range many {
		platform := r.networks[n%len(r.networks)]
		s := r.draft(platform, usual, fmt.Sprintf("rush %d of %s, %v apart", n, platform, apart), r.least(platform))
		r.ok(http.MethodPost, "/posts/"+s.id+"/schedule",
			map[string]any{"scheduled_at": due.Add(time.Duration(n) * apart).UTC().Format(time.RFC3339Nano)})
		r.ids = append(r.ids, s.id)
	}
	for left := 1; left > 0; <-time.After(settledLook) {
		must.NoError(r.t, r.db.QueryRow(r.t.Context(), `SELECT COUNT(*) FROM post_targets WHERE published_at = 0`).Scan(&left))
	}
}

// late returns the lateness of each post.
func (r *rush) late() []time.Duration {
	r.t.Helper()
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(r.ids)), ", ")
	out := must.Get(db.All(r.t.Context(), r.db, func(rows *sql.Rows, d *time.Duration) error {
		var micros int64
		err := rows.Scan(&micros)
		*d = time.Duration(micros) * time.Microsecond
		return err
	}, `SELECT t.published_at - p.scheduled_at FROM post_targets t JOIN posts p ON p.id = t.post_id WHERE p.id IN (`+
		marks+`)`, r.ids...))(r.t)
	return out
}
