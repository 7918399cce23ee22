package auditlog

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Every filter of the operator's audit log except the dates reads events from an index, newest first or oldest first,
// without sorting them.
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

// The dates in a filter of the operator's audit log limit the IDs that the query reads. Events of overlapping
// transactions are found.
func TestDaysUseIndex(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
		must.NoError(t, d.InTx(t.Context(), "fill", func(ctx context.Context, tx *db.Tx) error {
			for n := range 3000 {
				at := start.Add(time.Duration(n) * time.Minute)
				if n == 2030 {
					at = at.Add(-31 * time.Minute)
				}
				_, err := tx.Exec(ctx, `INSERT INTO events (at, team_id, kind, subject) VALUES (?, 0, 'x', 'x')`, db.Micros(at))
				if err != nil {
					return err
				}
			}
			_, err := tx.Exec(ctx, `ANALYZE`)
			return err
		}))
		first := must.Get(newestID(t.Context(), d))(t) - 2999
		filter := Filter{Since: start.Add(1000 * time.Minute), Until: start.Add(2000 * time.Minute), Limit: 5000}
		bounded := must.Get(filter.boundIDs(t.Context(), d))(t)
		if bounded.AfterID-first != 939 || bounded.UpToID-first != 2060 {
			t.Errorf("IDs above %d up to %d", bounded.AfterID-first, bounded.UpToID-first)
		}
		for _, oldest := range []bool{false, true} {
			filter.OldestFirst = oldest
			if got := must.Get(Entries(t.Context(), d, filter))(t); len(got) != 1001 {
				t.Errorf("%d events, oldest first: %t", len(got), oldest)
			}
		}
		for _, condition := range []string{`at < ? ORDER BY at DESC, id DESC`, `at >= ? ORDER BY at, id`} {
			plan := testkit.Plan(t, d, `SELECT id FROM events WHERE `+condition+` LIMIT 1`, db.Micros(filter.Until))
			if !strings.Contains(plan, "events_by_time") || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("%s\n%s", condition, plan)
			}
		}
		later := Filter{Since: start.Add(5000 * time.Minute), BeforeID: first + 2900, Limit: 51}
		if bounded := must.Get(later.boundIDs(t.Context(), d))(t); bounded.AfterID-first != 2999 {
			t.Errorf("days without events: IDs above %d", bounded.AfterID-first)
		}
		query, args := must.Get(later.boundIDs(t.Context(), d))(t).query()
		if !strings.Contains(query, "id > ? AND id < ?") || args[0] != first+2999 {
			t.Errorf("%s %v", query, args)
		}
	})
}
