package postlist

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/thread"
	"pressroom.example/pressroom/internal/platform/db"
)

// Failure is an account that a post was not published to.
type Failure struct {
	Account            int64
	Platform, Username string
	State              post.TargetState
	ErrorCode          string
	Permalink          string // set if the network has the post but does not show it
	Parts              int    // published parts of the thread
}

// ListFailures returns the accounts of a team's posts that failed or whose outcome is unknown, by post ID.
func ListFailures(ctx context.Context, d *db.DB, team int64, ids []string) (map[string][]Failure, error) {
	out := map[string][]Failure{}
	if len(ids) == 0 {
		return out, nil
	}
	type row struct {
		Failure
		post string
	}
	found, err := db.All(ctx, d, func(rows *sql.Rows, r *row) error {
		var published int64
		var parts string
		err := rows.Scan(&r.post, &r.Account, &r.Platform, &r.Username, &r.State, &r.ErrorCode, &r.Permalink, &published, &parts)
		if err != nil || published == 0 {
			return err
		}
		others, err := thread.DecodePublished(parts)
		r.Parts = 1 + len(others)
		return err
	}, `SELECT t.post_id, t.account_id, a.platform, a.username, t.state, t.error_code, t.permalink, t.published_at, t.parts
		FROM post_targets t
		JOIN social_accounts a ON a.id = t.account_id AND a.team_id = ?
		WHERE t.state IN ('failed', 'unconfirmed') AND t.post_id IN (`+db.Placeholders(len(ids))+`)
		ORDER BY t.post_id, t.position`, db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading the failed accounts of posts: %w", err)
	}
	for _, r := range found {
		out[r.post] = append(out[r.post], r.Failure)
	}
	return out, nil
}
