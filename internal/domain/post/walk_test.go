package post

import (
	"slices"
	"testing"

	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
)

// Of two lower bounds SQLite walks from the first in the text. What is bounded by a time begins there, and not
// at the first post that there ever was: SeekGE is a walk from a bound that is part of it, SeekGT would be the
// one from slot_at > 0.
func TestTimesAreWalkedFromTheirBound(t *testing.T) {
	t.Parallel()
	d := testkit.Open(t, testkit.SQLite(t), nil)
	fill(t, d, 0, 3000)
	spans := []Span{{From: db.Time(1_900_000_000_000_000), To: db.Time(1_900_000_000_000_050)}}
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
		if steps := opcodes(t, d, query.text, query.args); !slices.Contains(steps, "SeekGE") ||
			slices.Contains(steps, "SeekGT") {
			t.Errorf("%s: %v", name, steps)
		}
	}
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
