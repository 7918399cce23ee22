package analytics

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// createAccounts creates 30 accounts of two teams with 100 posts and days each.
func createAccounts(t *testing.T, d *db.DB) {
	t.Helper()
	must.NoError(t, d.InTx(t.Context(), "fill", func(ctx context.Context, tx *db.Tx) error {
		exec := func(query string, args ...any) error {
			_, err := tx.Exec(ctx, query, args...)
			return err
		}
		for team := 1; team <= 2; team++ {
			if err := exec(`INSERT INTO teams (id, name, timezone, content_language, plan, created_at)
				VALUES (?, 'T', 'UTC', 'en', 'team', 1)`, team); err != nil {
				return err
			}
		}
		for account := 1; account <= 30; account++ {
			if err := exec(`INSERT INTO social_accounts (id, team_id, platform, network_id, username, display_name,
				connection_state, sealed_grant, created_at, updated_at) VALUES (?, ?, 'x', ?, 'u', 'u', 'connected',
				?, 1, 1)`,
				account, account%2+1, fmt.Sprint(account), []byte{}); err != nil {
				return err
			}
			if err := exec(`INSERT INTO account_collections (account_id, due_at) VALUES (?, ?)`, account,
				account); err != nil {
				return err
			}
			for n := 1; n <= 100; n++ {
				if err := exec(`INSERT INTO account_posts (account_id, network_id, posted_at, format, excerpt, url,
					collected_at) VALUES (?, ?, ?, 'text', '', '', 1)`, account, fmt.Sprint(n), n); err != nil {
					return err
				}
				if err := exec(`INSERT INTO account_days (account_id, day, followers, measured_at)
					VALUES (?, ?, 1, 1)`, account, fmt.Sprintf("2026-%03d", n)); err != nil {
					return err
				}
			}
		}
		return exec(`ANALYZE`)
	}))
}

// Frequent queries use indexes. They read no posts or days of other accounts and sort nothing.
func TestQueriesUseIndexes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		createAccounts(t, d)
		due, args := dueQuery(5, []string{"threads"}, 8)
		for _, c := range []struct {
			name, query string
			args        []any
		}{
			{"posts", postsQuery, []any{1, 2, 90, 100, 20}},
			{"usual", usualQuery, []any{2, "99", 2, 20}},
			{"days", daysQuery, []any{1, 2, 2, "2026-090"}},
			{"due", due, args},
			{"delete missing", `DELETE FROM account_posts WHERE account_id = ? AND posted_at > ? AND collected_at < ?`,
				[]any{2, 90, 0}},
			{"delete expired", `DELETE FROM account_posts WHERE account_id = ? AND posted_at < ?`, []any{2, 2}},
		} {
			plan := testkit.Plan(t, d, c.query, c.args...)
			for _, unwanted := range []string{"SCAN p", "SCAN d", "SCAN account_posts", "TEMP B-TREE",
				"Seq Scan on account_posts", "Seq Scan on account_days"} {
				if strings.Contains(plan, unwanted) {
					t.Errorf("%s: %s\n%s", c.name, unwanted, plan)
				}
			}
		}
	})
}
