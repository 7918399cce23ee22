package calendar

import (
	"slices"
	"testing"

	"pressroom/internal/domain/post/posttest"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
)

// SQLite uses the first of two lower bounds in the text of a query. A query that is bounded by a time must start there
// (SeekGE), not at the first post of all (SeekGT, from slot_at > 0).
func TestQueryLowerBounds(t *testing.T) {
	posttest.EachDatabase(t, func(t *testing.T, w *posttest.Env) {
		if w.DB.Postgres() {
			return
		}
		fill(t, w)
		spans := []Span{{From: db.Time(first), To: db.Time(first + 50)}}
		calendar, args := slotsQuery(1, Filter{}, spans, 4)
		one, alone := slotsQuery(1, Filter{Account: 1}, spans, 4)
		some, filtered := slotsQuery(1, Filter{Network: "x", State: Failed}, spans, 4)
		for name, query := range map[string]struct {
			text string
			args []any
		}{
			"calendar":                {calendar, args},
			"calendar of one account": {one, alone},
			"calendar with filters":   {some, filtered},
		} {
			if steps := testkit.Opcodes(t, w.DB, query.text, query.args...); !slices.Contains(steps, "SeekGE") ||
				slices.Contains(steps, "SeekGT") {
				t.Errorf("%s: %v", name, steps)
			}
		}
	})
}
