package stats

import (
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Frequent queries use an index.
func TestQueriesUseIndexes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		without := `DROP TRIGGER hashtags_become_found` // it is slow, and another test covers it
		if d.Postgres() {
			without = `ALTER TABLE hashtags DISABLE TRIGGER USER`
		}
		for _, statement := range []string{
			without,
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
				INSERT INTO hashtags (platform, hashtag, measured_at, due_at, turn, seen)
				SELECT 'instagram', 'tag' || CAST(i AS TEXT), CASE WHEN i % 2 = 0 THEN i ELSE 0 END, CASE WHEN i % 3
		= 0 THEN i ELSE 0 END, i, i % 1010 FROM n`,
			`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
				INSERT INTO hashtag_posts (platform, post, dice, seen_at)
				SELECT 'instagram', CAST(i AS TEXT), (i * 7919) % 20011, i FROM n`,
			`INSERT INTO hashtag_links (hashtag_id, found, post_id) SELECT 1 + id % 100, id % 2, id FROM hashtag_posts`,
			`ANALYZE`,
		} {
			must.Get(d.Writer().ExecContext(t.Context(), statement))(t)
		}
		for _, c := range []struct {
			index, query string
			args         []any
		}{
			{"hashtags_unmeasured", unmeasuredQuery, []any{"instagram", int64(4000)}},
			{"hashtags_stale", staleQuery, []any{"instagram", int64(4000), int64(4000)}},
			{"hashtags_crowded", crowdedQuery, []any{sweepHashtags}},
			{"hashtag_posts_by_age", oldPostsQuery, []any{int64(100), sweepPosts}},
			{"hashtag_posts_sample", referenceQuery, []any{"instagram", 30}},
			{"hashtag_links", targetQuery, []any{"instagram", "tag17", 50}},
			{"hashtag_links", excessQuery, []any{int64(17), 50}},
			{"hashtags", getQuery, []any{"instagram", `{"tag1": 1, "tag2": 2}`}},
		} {
			plan := testkit.Plan(t, d, c.query, c.args...)
			if !strings.Contains(plan, c.index) || strings.Contains(plan, "Seq Scan") || strings.Contains(plan,
				"SCAN hashtag") && !strings.Contains(plan, "INDEX") || strings.Contains(plan, "SCAN p") {
				t.Errorf("does not use index %s:\n%s", c.index, plan)
			}
		}
	})
}
