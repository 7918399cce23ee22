package calendar

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

const first = 1_900_000_000_000_000 // the time of the first post, in microseconds

// insertPosts creates 3000 posts for a team. Two thirds of them are drafts.
func insertPosts(t *testing.T, w *posttest.Env) {
	t.Helper()
	must.NoError(t, w.DB.InTx(t.Context(), "fill", func(ctx context.Context, tx *db.Tx) error {
		for i := range 3000 {
			status, slot := "draft", 0
			if i%3 == 0 {
				status, slot = "scheduled", first+i
			}
			if _, err := tx.Exec(ctx, `INSERT INTO posts (id, team_id, person_id, status, caption, excerpt, scheduled_at,
				slot_at, created_at, updated_at) VALUES (?, ?, ?, ?, 'text', 'text', ?, ?, 1, 1)`,
				fmt.Sprintf("%08d-aaaa", i), w.Call.TeamID, w.Person, status, slot, slot); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `ANALYZE`)
		return err
	}))
}

// Queries use indexes, without sorting and without full table scans.
func TestQueriesUseIndexes(t *testing.T) {
	posttest.EachDatabase(t, func(t *testing.T, w *posttest.Env) {
		insertPosts(t, w)
		spans := make([]Span, 42)
		for i := range spans {
			spans[i].From, spans[i].To = db.Time(first+int64(i)*50), db.Time(first+int64(i)*50+50)
		}
		team := w.Call.TeamID
		text, args := slotsQuery(team, Filter{}, spans, 4)
		calendar := testkit.Plan(t, w.DB, text, args...)
		series := testkit.Plan(t, w.DB, runningSeriesQuery, team, 0, 0, 100)
		for _, bad := range []string{"SCAN p", "Seq Scan on posts", "USE TEMP B-TREE FOR ORDER BY"} {
			if strings.Contains(calendar, bad) || strings.Contains(series, bad) {
				t.Errorf("%s:\n%s\n%s", bad, calendar, series)
			}
		}
		for _, undated := range []string{
			testkit.Plan(t, w.DB, plannedQuery(""), team, "2030-01-01", "2030-02-01", 5),
			testkit.Plan(t, w.DB, unplannedQuery(""), team, 5),
		} {
			if !strings.Contains(undated, "posts_undated") || strings.Contains(undated, "USE TEMP B-TREE FOR ORDER BY") {
				t.Errorf("drafts without a time:\n%s", undated)
			}
		}
		failed := testkit.Plan(t, w.DB, failedQuery, team, first, "unconfirmed", 5)
		overdue := testkit.Plan(t, w.DB, overdueDraftsQuery, team, first, 5)
		if !strings.Contains(failed, "posts_failed") || !strings.Contains(overdue, "posts_planned") {
			t.Errorf("an index is not used:\n%s\n%s", failed, overdue)
		}
	})
}
