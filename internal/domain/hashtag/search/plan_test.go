package search

import (
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Queries use an index.
func TestQueriesUseIndexes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		for _, statement := range []string{
			`INSERT INTO teams (name, timezone, content_language, plan, created_at)
				VALUES ('Harbour', 'UTC', 'en', 'team', 1)`,
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
				INSERT INTO hashtag_searches (team_id, platform, keyword, paid_until)
				SELECT 1, 'instagram', 'word' || CAST(i AS TEXT), i FROM n`,
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
				INSERT INTO jobs (id, team_id, type, state, subject, created_at)
				SELECT 'j' || CAST(i AS TEXT), 1, 'hashtag_search', 'succeeded', 'instagram', 1 FROM n`,
			`INSERT INTO hashtag_search_jobs (job_id, search_id, platform, words) SELECT id, 1, 'instagram', 'word'
				FROM jobs`,
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
				INSERT INTO hashtag_search_results (job_id, part, position, entry) SELECT id, 'hashtags', i, '{}'
				FROM n, jobs`,
			`ANALYZE`,
		} {
			must.Get(d.Writer().ExecContext(t.Context(), statement))(t)
		}
		for _, c := range []struct {
			table, query string
			args         []any
		}{
			{"hashtag_searches", expiredQuery, []any{int64(3), sweepBatch}},
			{"hashtag_search_results", pageQuery, []any{"j7", partHashtags, 40, 60}},
		} {
			if plan := testkit.Plan(t, d, c.query, c.args...); !strings.Contains(strings.ToUpper(plan), "INDEX") ||
				strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "SCAN "+c.table) {
				t.Errorf("no use of an index:\n%s", plan)
			}
		}
	})
}
