package stats

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Every statement of Find scans an index in order, without sorting or scanning a table. This applies to frequent and
// rare grams, and to PostgreSQL's generic plans.
func TestFindScansInIndexOrder(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		change(t, d, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
				INSERT INTO hashtags (platform, hashtag, posts)
				SELECT 'instagram', 'sailing' || CAST(i * 7919 AS TEXT), CASE WHEN i % 2 = 0 THEN i END FROM n`)
			return err
		})
		vacuum(t, d)
		for _, gram := range []string{"ing", "919", "zzz"} {
			for patterns := range 3 {
				like := []string{"%ailing%", "%791%"}[:patterns]
				query, args := scanGramQuery(provider.Instagram, gram, endOfIndex, like, MaxMatches)
				checkIndexScan(t, d, "all of "+gram, query, args, alongGrams, byID)
				query, args = scanGramQuery(provider.Instagram, gram, hit{position: -500, id: 7}, like, MaxMatches)
				checkIndexScan(t, d, "the largest of "+gram, query, args, alongGrams, byID)
			}
			checkIndexScan(t, d, "the rank of "+gram, rankQuery, []any{provider.Instagram, gram,
				defaultScanLimits.rareBelow - 1}, alongGrams)
		}
		checkIndexScan(t, d, "the words", exactMatchQuery(3), []any{provider.Instagram, "sailing", "boats",
			"sailingboats"}, byName)
	})
}

// key is the name of an index in the plans of each database.
type key struct{ sqlite, postgres string }

var (
	alongGrams = key{"SEARCH g USING PRIMARY KEY (platform=? AND gram=?", "hashtag_grams_pkey"}
	byID       = key{"SEARCH h USING INTEGER PRIMARY KEY", "hashtags_pkey"}
	byName     = key{"SEARCH hashtags USING COVERING INDEX sqlite_autoindex_hashtags_1 (platform=? AND hashtag=?)",
		"hashtags_platform_hashtag_key"}
)

// checkIndexScan fails unless a query uses only these indexes, in the requested order.
func checkIndexScan(t *testing.T, d *db.DB, name, query string, args []any, keys ...key) {
	t.Helper()
	for _, plan := range queryPlans(t, d, query, args) {
		for _, bad := range []string{"SCAN", "Seq Scan", "TEMP B-TREE", "Sort", "Hash"} {
			if strings.Contains(plan, bad) {
				t.Errorf("%s: %s\n%s", name, bad, plan)
			}
		}
		for _, k := range keys {
			want := k.sqlite
			if d.Postgres() {
				want = k.postgres
			}
			if !strings.Contains(plan, want) {
				t.Errorf("%s: does not use %s\n%s", name, want, plan)
			}
		}
	}
}

// queryPlans returns the plans of a query. SQLite has one plan. PostgreSQL has a plan for these arguments and a generic
// plan.
func queryPlans(t *testing.T, d *db.DB, query string, args []any) []string {
	t.Helper()
	out := []string{testkit.Plan(t, d, query, args...)}
	if d.Postgres() {
		out = append(out, genericPlan(t, d, query, args))
	}
	return out
}

// genericPlan returns PostgreSQL's generic plan of a prepared statement.
func genericPlan(t *testing.T, d *db.DB, query string, args []any) string {
	t.Helper()
	for n := range args {
		query = strings.Replace(query, "?", fmt.Sprint("$", n+1), 1)
	}
	values := make([]string, len(args))
	for n, arg := range args {
		values[n] = fmt.Sprint("'", arg, "'")
	}
	tx := must.Get(d.Writer().BeginTx(t.Context(), nil))(t)
	defer func() { _ = tx.Rollback() }()
	for _, statement := range []string{"SET LOCAL plan_cache_mode = force_generic_plan", "PREPARE kept AS " + query} {
		must.Get(tx.ExecContext(t.Context(), statement))(t)
	}
	rows := must.Get(tx.QueryContext(t.Context(), "EXPLAIN EXECUTE kept ("+strings.Join(values, ", ")+")"))(t)
	plan := must.Get(lines(rows))(t)
	must.Get(tx.ExecContext(t.Context(), "DEALLOCATE kept"))(t)
	return plan
}

func lines(rows *sql.Rows) (string, error) {
	defer rows.Close()
	var out []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return "", err
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n"), rows.Err()
}
