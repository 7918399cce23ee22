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
	EditedCopyID       string // ID of the edited copy that has taken over the account; empty if there is none
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
	copies, err := listCopies(ctx, d, team, ids)
	for _, r := range found {
		r.EditedCopyID = copies[accountOfPost{r.post, r.Account}]
		out[r.post] = append(out[r.post], r.Failure)
	}
	return out, err
}

type accountOfPost struct {
	post    string
	account int64
}

// listCopies returns the edited copies that have taken over accounts of a team's posts.
func listCopies(ctx context.Context, d *db.DB, team int64, ids []string) (map[accountOfPost]string, error) {
	type row struct {
		from accountOfPost
		copy string
	}
	found, err := db.All(ctx, d, func(rows *sql.Rows, r *row) error {
		return rows.Scan(&r.from.post, &r.from.account, &r.copy)
	}, `SELECT p.id, t.account_id, c.id FROM posts p
		JOIN posts c ON c.replaces = CASE WHEN p.replaces = '' THEN p.id ELSE p.replaces END AND c.replaces <> '' AND c.id <> p.id
		JOIN post_targets t ON t.post_id = c.id AND (t.state <> 'failed' OR t.published_at > 0)
		WHERE p.team_id = ? AND p.id IN (`+db.Placeholders(len(ids))+`)`, db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading the edited copies of posts: %w", err)
	}
	out := map[accountOfPost]string{}
	for _, r := range found {
		out[r.from] = r.copy
	}
	return out, nil
}
