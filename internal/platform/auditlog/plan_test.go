package auditlog

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Every filter of the operator's audit log reads events by an index, newest first and oldest first, without sorting them.
func TestFiltersUseIndexes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		must.NoError(t, d.InTx(t.Context(), "fill", func(ctx context.Context, tx *db.Tx) error {
			for n := range 3000 {
				if _, err := tx.Exec(ctx, `INSERT INTO events (at, team_id, person_id, key_id, request_id, kind, subject, detail)
					VALUES (?, ?, ?, 0, '', ?, ?, '{}')`, n, n%40, n%50, fmt.Sprint("kind", n%30), fmt.Sprint("post", n/3)); err != nil {
					return err
				}
			}
			_, err := tx.Exec(ctx, `ANALYZE`)
			return err
		}))
		for index, filter := range map[string]Filter{
			"events_by_kind": {Kind: "kind3"}, "events_by_person": {Person: 7}, "events_by_subject": {Subject: "post9"},
			"events_of_kind": {Team: 3, Kind: "kind3"}, "events_of_team": {Team: 3},
		} {
			for _, oldest := range []bool{false, true} {
				filter.BeforeID, filter.OldestFirst, filter.Limit = 2900, oldest, 51
				query, args := filter.query()
				plan := testkit.Plan(t, d, query, args...)
				if !strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "Seq Scan") {
					t.Errorf("%s, oldest first: %t\n%s", index, oldest, plan)
				}
			}
		}
	})
}
