package postlist

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// recentPosts is the number of a team's latest posts that LastAccounts searches.
const recentPosts = 100

// LastAccounts returns the connected accounts of the latest post that a person created in the app.
func LastAccounts(ctx context.Context, d *db.DB, team, person int64) ([]int64, error) {
	out, err := db.All(ctx, d, func(rows *sql.Rows, id *int64) error { return rows.Scan(id) },
		`SELECT t.account_id FROM post_targets t JOIN social_accounts a ON a.id = t.account_id
		WHERE a.disconnected_at = 0 AND a.connection_state <> 'lost' AND t.post_id = (SELECT p.id FROM
		(SELECT id, person_id, key_id, replaces FROM posts WHERE team_id = ? ORDER BY id DESC LIMIT ?) p
		WHERE p.person_id = ? AND p.key_id = 0 AND p.replaces = '' AND EXISTS (SELECT 1 FROM post_targets o WHERE o.post_id = p.id)
		ORDER BY p.id DESC LIMIT 1) ORDER BY t.account_id`, team, recentPosts, person)
	if err != nil {
		return nil, fmt.Errorf("reading the accounts of a person's last post: %w", err)
	}
	return out, nil
}
