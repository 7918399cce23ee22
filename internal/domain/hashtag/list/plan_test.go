package list

import (
	"math"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Queries use an index of the team or the list. They may sort the rows of one team or list, because plans limit their
// number.
func TestQueriesUseIndexes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		for _, statement := range []string{
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
				INSERT INTO teams (name, timezone, content_language, plan, created_at)
				SELECT 'Harbour', 'UTC', 'en', 'team', 1 FROM n`,
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
				INSERT INTO hashtag_lists (team_id, name, platform, created_at)
				SELECT i % 1000 + 1, 'n', CASE WHEN i % 3 = 0 THEN 'tiktok' ELSE '' END, 1 FROM n`,
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
				INSERT INTO hashtag_list_items (list_id, position, hashtag)
				SELECT 1000000 + i % 500, i, 'tag' || CAST(i AS TEXT) FROM n`,
			`ANALYZE`,
		} {
			must.Get(d.Writer().ExecContext(t.Context(), statement))(t)
		}
		all, allArgs := pageQuery(7, "", math.MaxInt64, 21)
		on, onArgs := pageQuery(7, "tiktok", 1_019_000, 21)
		asked := must.Get(positionsJSON([]string{"tag7", "tag507"}, 0))(t)
		for name, c := range map[string]struct {
			indexes []string // each database uses one of them
			query   string
			args    []any
		}{
			"all":      {[]string{"hashtag_lists_of_team"}, all, allArgs},
			"platform": {[]string{"hashtag_lists_of_team"}, on, onArgs},
			"how many": {[]string{"hashtag_lists_of_team"}, `SELECT COUNT(*) FROM hashtag_lists WHERE team_id = ?`,
				[]any{int64(7)}},
			"items": {[]string{"hashtag_list_items_", "USING PRIMARY KEY (list_id=?)"}, itemsQuery,
				[]any{int64(8), int64(1_000_007)}},
			"present": {[]string{"hashtag_list_items_", "sqlite_autoindex_hashtag_list_items"}, presentQuery,
				[]any{int64(1_000_007), asked}},
			"held": {[]string{"hashtag_list_items_hashtag_list_id_key", "sqlite_autoindex_hashtag_list_items"},
				inAnyListQuery, []any{"tag7", "tiktok"}},
		} {
			plan := testkit.Plan(t, d, c.query, c.args...)
			used := false
			for _, index := range c.indexes {
				used = used || strings.Contains(plan, index)
			}
			if !used || strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "SCAN hashtag") ||
				strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("%s: no use of one of %q:\n%s", name, c.indexes, plan)
			}
		}
	})
}
