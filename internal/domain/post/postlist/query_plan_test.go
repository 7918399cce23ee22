package postlist

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

// insertPosts creates 6000 posts in all states for a team.
func insertPosts(t *testing.T, w *posttest.Env) {
	t.Helper()
	states := []string{"draft", "scheduled", "published", "published", "published", "failed"}
	must.NoError(t, w.DB.InTx(t.Context(), "fill", func(ctx context.Context, tx *db.Tx) error {
		for i := range 6000 {
			status, slot, approval := states[i%6], first+i, "not_needed"
			if status == "draft" {
				slot = 0
			}
			if i%60 < 2 {
				approval = "waiting"
			}
			id := fmt.Sprintf("%08d-aaaa", i)
			if _, err := tx.Exec(ctx, `INSERT INTO posts (id, team_id, person_id, status, caption, excerpt, scheduled_at,
				slot_at, approval, archived_at, created_at, updated_at) VALUES (?, ?, ?, ?, 'text', 'text', ?, ?, ?, ?, 1, 1)`,
				id, w.Call.TeamID, w.Person, status, slot, slot, approval, db.BoolToInt(i%60 == 5)); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `INSERT INTO post_targets (post_id, account_id, position) VALUES (?, ?, 0)`, id,
				w.Account); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `ANALYZE`)
		return err
	}))
}

// Each tab is counted and listed with its index, without sorting and without full table scans.
func TestTabsUseIndexes(t *testing.T) {
	posttest.EachDatabase(t, func(t *testing.T, w *posttest.Env) {
		insertPosts(t, w)
		text, args := countsQuery(w.Call.TeamID)
		checkPlan(t, w, "counts", text, args, "posts_of_team", "posts_by_status", "posts_coming", "posts_waiting", "posts_sent",
			"posts_failed", "posts_archived")
		for name, index := range map[Tab]string{All: "posts_of_team", Drafts: "posts_by_status", Scheduled: "posts_coming",
			NeedsApproval: "posts_waiting", Published: "posts_sent", Failed: "posts_failed", Archived: "posts_archived"} {
			for _, f := range []Filter{{Tab: name}, {Tab: name, Text: "tex"}, {Tab: name, Account: w.Account}} {
				wanted := index
				if name == All && f.Account != 0 {
					wanted = "post_targets_of_account"
				}
				text, args, err := listQuery(w.Call.TeamID, f, fmt.Sprint(first+150, ".00000150-aaaa"), 30)
				must.NoError(t, err)
				checkPlan(t, w, fmt.Sprintf("%+v", f), text, args, wanted)
			}
		}
		text, args, err := listQuery(w.Call.TeamID, Filter{Tab: Past}, "", 30)
		must.NoError(t, err)
		checkPlan(t, w, "past", text, args, "posts_by_slot")
		text, args, err = listQuery(w.Call.TeamID, Filter{From: db.Time(first), To: db.Time(first + 9)}, "", 30)
		must.NoError(t, err)
		checkPlan(t, w, "days", text, args, "posts_by_slot")
	})
}

// A text search covers the newest 5000 posts.
func TestSearchLimit(t *testing.T) {
	posttest.EachDatabase(t, func(t *testing.T, w *posttest.Env) {
		insertPosts(t, w)
		w.Exec(t, `UPDATE posts SET caption = 'needle' WHERE id IN ('00000998-aaaa', '00000999-aaaa', '00001000-aaaa',
			'00001002-aaaa')`)
		for f, want := range map[Filter]string{
			{Text: "NEEDLE"}:                     "[00001002-aaaa 00001000-aaaa]",
			{Text: "needle", Account: w.Account}: "[00001002-aaaa 00001000-aaaa]",
			{Text: "needle", Tab: Published}:     "[00001000-aaaa]",
		} {
			found, _, err := List(t.Context(), w.DB, w.Call.TeamID, f, "", 30)
			must.NoError(t, err)
			ids := []string{}
			for _, e := range found {
				ids = append(ids, e.ID)
			}
			if got := fmt.Sprint(ids); got != want {
				t.Errorf("%+v: %s, want %s", f, got, want)
			}
		}
	})
}

// checkPlan fails the test if a query sorts, scans a whole table or does not use the indexes.
func checkPlan(t *testing.T, w *posttest.Env, name, text string, args []any, indexes ...string) {
	t.Helper()
	plan := testkit.Plan(t, w.DB, text, args...)
	for _, bad := range []string{"SCAN p", "SCAN t\n", "Seq Scan on post", "TEMP B-TREE FOR ORDER", "Sort"} {
		if strings.Contains(plan, bad) {
			t.Errorf("%s: %s\n%s", name, bad, plan)
		}
	}
	for _, index := range indexes {
		if !strings.Contains(plan, index) && !w.DB.Postgres() { // PostgreSQL chooses indexes by the number of posts.
			t.Errorf("%s does not use %s:\n%s", name, index, plan)
		}
	}
}
