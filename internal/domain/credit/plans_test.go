package credit

import (
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
)

// TestQueriesUseIndexes checks that the queries of every paid call use indexes.
func TestQueriesUseIndexes(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		for range 50 {
			w.actor(t)
		}
		w.exec(t, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
			INSERT INTO reservations (team_id, person_id, key_id, operation, idempotency_key, request_hash, state,
		amount, charged, created_at, ended_at)
			SELECT i % 50 + 1, 7, i % 70 + 1, 'search_hashtags', CAST(i AS TEXT), ?, 'settled', 3, 3, CAST(? AS
		BIGINT) + CAST(i AS BIGINT) * 600000000, 1 FROM n`, []byte("hash"), db.Micros(noon))
		w.exec(t, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
			INSERT INTO credit_holds (team_id, key_id, subject, amount, created_at)
			SELECT i % 50 + 1, i % 70 + 1, CAST(i AS TEXT), 2, CAST(? AS BIGINT) + CAST(i AS BIGINT) * 600000000 FROM n`, db.Micros(noon))
		if _, err := w.db.Writer().ExecContext(t.Context(), `ANALYZE`); err != nil {
			t.Fatal(err)
		}
		begins := db.Micros(noon.Add(50 * 24 * time.Hour))
		one, ends := int64(7), begins+24*time.Hour.Microseconds()
		day := []any{one, one, one, one, begins, ends, one, one, begins, ends, one, begins, ends}
		for _, c := range []struct {
			index, query string
			args         []any
		}{
			{"reservations_of_day", dailyUsageQuery, day},
			{"credit_holds_of_day", dailyUsageQuery, day},
			{"reservations_by_key", spentKeyQuery, []any{int64(7), "77", []byte("hash")}},
		} {
			plan := testkit.Plan(t, w.db, c.query, c.args...)
			if !strings.Contains(plan, c.index) || strings.Contains(plan, "Seq Scan on reservations") ||
				strings.Contains(plan, "SCAN reservations") {
				t.Errorf("no use of %s:\n%s", c.index, plan)
			}
		}
	})
}
