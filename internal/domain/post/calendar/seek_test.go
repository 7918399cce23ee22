package calendar

import (
	"slices"
	"testing"

	"pressroom/internal/domain/post/posttest"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/must"
)

// SQLite uses the first of two lower bounds in the text of a query. A query that is bounded by a time must start there
// (SeekGE), not at the first post of all (SeekGT, from slot_at > 0).
func TestQueriesStartAtTheirLowerBound(t *testing.T) {
	posttest.EachDatabase(t, func(t *testing.T, w *posttest.Env) {
		if w.DB.Postgres() {
			return
		}
		fill(t, w)
		spans := []Span{{From: db.Time(first), To: db.Time(first + 50)}}
		calendar, args := slotsQuery(1, 0, spans, 4)
		one, alone := slotsQuery(1, 1, spans, 4)
		for name, query := range map[string]struct {
			text string
			args []any
		}{
			"calendar":                {calendar, args},
			"calendar of one account": {one, alone},
			"month": {`SELECT COUNT(*) FROM posts WHERE team_id = ? AND slot_at >= ? AND slot_at < ?
				AND slot_at > 0 AND status <> 'draft'`, []any{1, 2, 3}},
		} {
			if steps := opcodes(t, w.DB, query.text, query.args); !slices.Contains(steps, "SeekGE") ||
				slices.Contains(steps, "SeekGT") {
				t.Errorf("%s: %v", name, steps)
			}
		}
	})
}

// opcodes are the steps of SQLite's program for a query.
func opcodes(t *testing.T, d *db.DB, query string, args []any) []string {
	t.Helper()
	rows := must.Get(d.Query(t.Context(), "EXPLAIN "+query, args...))(t)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var opcode string
		rest := new(any)
		must.NoError(t, rows.Scan(rest, &opcode, rest, rest, rest, rest, rest, rest))
		out = append(out, opcode)
	}
	must.NoError(t, rows.Err())
	return out
}
