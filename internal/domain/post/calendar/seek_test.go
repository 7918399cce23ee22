package calendar

import (
	"slices"
	"testing"

	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
)

// SQLite uses the first of two lower bounds in the text of a query. A query with a lower time bound must begin at that
// time (opcode SeekGE). It must not begin at the first post (opcode SeekGT, for slot_at > 0).
func TestQueryLowerBounds(t *testing.T) {
	posttest.EachDatabase(t, func(t *testing.T, w *posttest.Env) {
		if w.DB.Postgres() {
			return
		}
		insertPosts(t, w)
		spans := []Span{{From: db.Time(first), To: db.Time(first + 50)}}
		calendar, args := slotsQuery(1, Filter{}, spans, 4)
		accountQuery, accountArgs := slotsQuery(1, Filter{Account: 1}, spans, 4)
		filteredQuery, filteredArgs := slotsQuery(1, Filter{Network: "x", State: Failed}, spans, 4)
		for name, query := range map[string]struct {
			text string
			args []any
		}{
			"calendar":                {calendar, args},
			"calendar of one account": {accountQuery, accountArgs},
			"calendar with filters":   {filteredQuery, filteredArgs},
		} {
			if steps := testkit.Opcodes(t, w.DB, query.text, query.args...); !slices.Contains(steps, "SeekGE") ||
				slices.Contains(steps, "SeekGT") {
				t.Errorf("%s: %v", name, steps)
			}
		}
	})
}
