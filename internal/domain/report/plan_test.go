package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Queries use an index.
func TestQueriesUseIndexes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		for _, statement := range []string{
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
				INSERT INTO teams (name, timezone, content_language, plan, created_at)
				SELECT 'Harbour', 'UTC', 'en', 'team', 1 FROM n`,
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
				INSERT INTO reports (id, team_id, kind, platform, subject, status, tracked, next_refresh_at, available_until, created_at)
				SELECT 'r' || CAST(i AS TEXT), i % 50 + 1, 'profile', 'instagram', 'name' || CAST(i AS TEXT),
		'ready', CASE WHEN i % 100 = 0 THEN 1 ELSE 0 END, i, 2 * i, 1 FROM n`,
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
				INSERT INTO report_posts (report_id, shown, post, taken_at)
				SELECT 'r' || CAST(i % 40 + 1 AS TEXT), 'posts', CAST(i AS TEXT), i FROM n`,
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
				INSERT INTO report_samples (report_id, measured_at, sample)
				SELECT 'r' || CAST(i % 2000 + 1 AS TEXT), i, '{}' FROM n`,
			`ANALYZE`,
		} {
			must.Get(d.Writer().ExecContext(t.Context(), statement))(t)
		}
		call := operation.Call{Actor: &access.Actor{TeamID: 7}, Now: time.Now()}
		list, listArgs, err := new(Service).pageQuery(call, ListInput{Limit: 20})
		must.NoError(t, err)
		tracked, trackedArgs, err := new(Service).pageQuery(call, ListInput{Limit: 20, TrackedOnly: true})
		must.NoError(t, err)
		failed, failedArgs, err := new(Service).pageQuery(call, ListInput{Limit: 20, Status: Failed})
		must.NoError(t, err)
		for _, c := range []struct {
			index, query string
			args         []any
		}{
			{"reports_unready", failed, failedArgs},
			{"reports_", list, listArgs},
			{"reports_", tracked, trackedArgs},
			{"reports_ending", expiredQuery, []any{int64(1), sweepBatch}},
			{"reports_failed", oldFailuresQuery, []any{int64(1), sweepBatch}},
			{"reports_due", dueQuery, []any{int64(1), pollBatch}},
			{"report_samples", fmt.Sprintf(trendQuery, "?,?"), []any{"r7", "r57", int64(1), int64(7)}},
			{"report_posts_by_age", postsQuery, []any{"r7", int64(1) << 62, "", 20}},
		} {
			// tables with one row or none
			plan := strings.NewReplacer("Seq Scan on hold", "", "Seq Scan on jobs", "").
				Replace(testkit.Plan(t, d, c.query, c.args...))
			if !strings.Contains(plan, c.index) || strings.Contains(plan, "Seq Scan") || strings.Contains(plan,
				"BitmapOr") || strings.Contains(plan, "SCAN report") && !strings.Contains(plan, "INDEX") {
				t.Errorf("does not use index %s:\n%s", c.index, plan)
			}
		}
	})
}
