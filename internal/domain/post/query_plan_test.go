package post

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/listquery"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// insertPosts creates n posts of a team. Two thirds of them are drafts. If from is 0, it also creates the team, its
// account and a second team.
func insertPosts(t *testing.T, d *db.DB, from, n int) {
	t.Helper()
	must.NoError(t, d.InTx(t.Context(), "fill", func(ctx context.Context, tx *db.Tx) error {
		if from == 0 {
			for _, statement := range []string{
				`INSERT INTO teams (id, name, timezone, content_language, plan, created_at)
					VALUES (1, 'A', 'UTC', 'en', 'team', 1), (2, 'B', 'UTC', 'en', 'team', 1)`,
				`INSERT INTO social_accounts (id, team_id, platform, network_id, username, display_name,
					connection_state, sealed_grant, created_at, updated_at) VALUES (1, 1, 'bluesky', 'd1', 'a', 'a',
					'connected', '', 1, 1)`,
			} {
				if _, err := tx.Exec(ctx, statement); err != nil {
					return err
				}
			}
		}
		for i := from; i < from+n; i++ {
			id, status, slot := fmt.Sprintf("%08d-aaaa", i), "draft", 0
			if i%3 == 0 {
				status, slot = "scheduled", 1_900_000_000_000_000+i
			}
			_, err := tx.Exec(ctx, `INSERT INTO posts (id, team_id, person_id, status, caption, excerpt, scheduled_at,
				slot_at, created_at, updated_at) VALUES (?, 1, 1, ?, 'text', 'text', ?, ?, 1, 1)`, id, status, slot,
				slot)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `INSERT INTO post_targets (post_id, account_id, position) VALUES (?, 1, 0)`,
				id); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `ANALYZE`)
		return err
	}))
}

var (
	one      = int64(1)
	from, to = "2030-01-01", "2031-01-01"
)

var lists = map[string]listquery.Filter{
	"all":             {},
	"status":          {Status: "scheduled"},
	"account":         {AccountID: &one},
	"from":            {From: &from},
	"from and to":     {From: &from, To: &to},
	"account, drafts": {AccountID: &one, Status: "draft"},
}

func pageQuery(t *testing.T, in listquery.Filter) (string, []any) {
	t.Helper()
	call := operation.Call{Actor: &access.Actor{TeamID: 1, Zone: time.UTC}, Operation: "list_posts"}
	position := strconv.Itoa(1_900_000_000_000_000+150) + "|" + "00000150-aaaa"
	cursor := call.Cursor(position)
	in.Cursor = &cursor
	q := must.Get(listquery.New(call, in))(t)
	return q.SQL(20)
}

// Lists use index scans, without sorting and without full table scans.
func TestListsUseIndexes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		insertPosts(t, d, 0, 3000)
		for name, in := range lists {
			query, args := pageQuery(t, in)
			plan := explain(t, d, query, args)
			for _, bad := range []string{"SCAN p", "SCAN t", "TEMP B-TREE", "Seq Scan on post", "Sort"} {
				if strings.Contains(plan, bad) {
					t.Errorf("%s: %s\n%s", name, bad, plan)
				}
			}
		}
		for name, query := range map[string]string{
			"due": `SELECT id FROM posts WHERE status = 'scheduled' AND is_template = 0 AND scheduled_at <= ?
				ORDER BY scheduled_at LIMIT ?`,
			"month": `SELECT COUNT(*) FROM posts WHERE team_id = 1 AND slot_at >= ? AND slot_at < ? AND slot_at > 0
				AND status <> 'draft'`,
			"ahead": `SELECT MIN(scheduled_at) FROM posts WHERE series_id = ? AND occurs_at > 0
				AND status = 'scheduled' AND ? > 0`,
			"same": `SELECT id, status FROM posts WHERE series_id = ? AND occurs_at = ? AND occurs_at > 0`,
			"wake": `SELECT COUNT(*) FROM (SELECT 1 FROM deliveries WHERE wake_at > 0 AND wake_at <= ?
				LIMIT ?) AS waiting`,
		} {
			if plan := explain(t, d, query, []any{1, 2}); strings.Contains(plan, "SCAN posts") ||
				strings.Contains(plan, "SCAN deliveries") || strings.Contains(plan, "Seq Scan on posts") {
				t.Errorf("%s:\n%s", name, plan)
			}
		}
	})
}

// explain returns the query plan, on PostgreSQL with the number of buffers read.
func explain(t *testing.T, d *db.DB, query string, args []any) string {
	t.Helper()
	if d.Postgres() {
		return testkit.Lines(t, d, "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) "+query, args...)
	}
	return testkit.Plan(t, d, query, args...)
}

var buffers = regexp.MustCompile(`shared (?:hit=(\d+))?\s?(?:read=(\d+))?`)

// The number of database pages that a list reads does not grow with the table.
func TestListQueryPlans(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		if !d.Postgres() {
			return // SQLite does not report how many pages a query reads.
		}
		read := func() map[string]int {
			out := map[string]int{}
			for name, in := range lists {
				query, args := pageQuery(t, in)
				found := buffers.FindStringSubmatch(explain(t, d, query, args))
				for _, text := range found[1:] {
					n, _ := strconv.Atoi(text) // The text is empty if nothing was read.
					out[name] += n
				}
			}
			return out
		}
		insertPosts(t, d, 0, 2000)
		small := read()
		insertPosts(t, d, 2000, 18000)
		large := read()
		for name := range lists {
			// Each of the two indexes may be one level deeper, which adds one page for each of the 21 rows looked up.
			if small[name] == 0 || large[name] > small[name]+2*21 {
				t.Errorf("%s: %d pages, then %d", name, small[name], large[name])
			}
		}
	})
}
