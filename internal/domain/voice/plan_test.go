package voice

import (
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Queries for a team's voices use an index.
func TestQueriesUseIndexes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		for _, statement := range []string{
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
				INSERT INTO teams (name, timezone, content_language, plan, created_at)
				SELECT 'Harbour', 'UTC', 'en', 'team', 1 FROM n`,
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
				INSERT INTO brand_voices (team_id, name, folded, is_default, guide, created_at, updated_at)
				SELECT i % 400 + 1, 'v', CAST(i AS TEXT), CASE WHEN i <= 400 THEN 1 ELSE 0 END, '{}', 1, 1 FROM n`,
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
				INSERT INTO voice_materials (voice_id, kind, content, digest, created_at)
				SELECT i % 2000 + 1, 'text', 'x', CAST(i AS TEXT), 1 FROM n`,
			`ANALYZE`,
		} {
			must.Get(d.Writer().ExecContext(t.Context(), statement))(t)
		}
		for _, c := range []struct {
			query string
			args  []any
		}{
			{listQuery, []any{int64(7)}},
			{findQuery, []any{int64(7), int64(8)}},
			{materialsQuery, []any{int64(7), int64(8)}},
			{`UPDATE brand_voices SET is_default = 0 WHERE team_id = ? AND is_default = 1`, []any{int64(7)}},
			{`UPDATE brand_voices SET is_default = 1 WHERE id = (SELECT MIN(id) FROM brand_voices WHERE team_id = ?)`,
				[]any{int64(7)}},
			{`SELECT COUNT(*) FROM voice_materials WHERE voice_id = ?`, []any{int64(7)}},
			{`DELETE FROM voice_materials WHERE voice_id = ?`, []any{int64(7)}}, // run when a voice is deleted
		} {
			plan := testkit.Plan(t, d, c.query, c.args...)
			if strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "SCAN") || strings.Contains(plan,
				"TEMP B-TREE") {
				t.Errorf("%s\n%s", c.query, plan)
			}
		}
	})
}
