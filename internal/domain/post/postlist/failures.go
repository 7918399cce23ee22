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
	HeldBy             string // ID of the other post of the family that has taken over the account; empty if there is none
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
	holders, err := listHolders(ctx, d, team, ids)
	for _, r := range found {
		r.HeldBy = holders[accountOfPost{r.post, r.Account}]
		out[r.post] = append(out[r.post], r.Failure)
	}
	return out, err
}

type accountOfPost struct {
	post    string
	account int64
}

// listHolders returns the posts that have taken over accounts of a team's posts: edited copies and original posts of
// the same families. See post.Service.HeldByOthers.
func listHolders(ctx context.Context, d *db.DB, team int64, ids []string) (map[accountOfPost]string, error) {
	type row struct {
		of     accountOfPost
		holder string
	}
	args := db.Args(team, ids)
	found, err := db.All(ctx, d, func(rows *sql.Rows, r *row) error {
		return rows.Scan(&r.of.post, &r.of.account, &r.holder)
	}, `SELECT p.id, t.account_id, o.id FROM posts p
		JOIN posts o ON o.replaces = CASE WHEN p.replaces = '' THEN p.id ELSE p.replaces END AND o.replaces <> '' AND o.id <> p.id
		JOIN post_targets t ON t.post_id = o.id AND (t.state <> 'failed' OR t.published_at > 0)
		WHERE p.team_id = ? AND p.id IN (`+db.Placeholders(len(ids))+`)
		UNION ALL SELECT p.id, t.account_id, p.replaces FROM posts p
		JOIN post_targets t ON t.post_id = p.replaces AND (t.state <> 'failed' OR t.published_at > 0)
		WHERE p.replaces <> '' AND p.team_id = ? AND p.id IN (`+db.Placeholders(len(ids))+`)`, append(args, args...)...)
	if err != nil {
		return nil, fmt.Errorf("reading the families of posts: %w", err)
	}
	out := map[accountOfPost]string{}
	for _, r := range found {
		out[r.of] = r.holder
	}
	return out, nil
}
