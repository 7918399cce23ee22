package postlist

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// LatestFailure is the error of a post that failed on an account.
type LatestFailure struct {
	PostID    string
	ErrorCode string
}

// lastFailureQuery reads only an account's newest 20 posts, because older failures no longer matter.
const lastFailureQuery = `SELECT post_id, error_code FROM (SELECT post_id, state, error_code FROM post_targets
	WHERE account_id = (SELECT id FROM social_accounts WHERE team_id = ? AND id = ?) ORDER BY post_id DESC
	LIMIT 20) AS newest WHERE state = 'failed' ORDER BY post_id DESC LIMIT 1`

// LastFailure returns the newest failure among the latest posts of a team's account, or a zero LatestFailure if there is
// none.
func LastFailure(ctx context.Context, d *db.DB, team, account int64) (LatestFailure, error) {
	var f LatestFailure
	err := d.QueryRow(ctx, lastFailureQuery, team, account).Scan(&f.PostID, &f.ErrorCode)
	if errors.Is(err, sql.ErrNoRows) {
		return LatestFailure{}, nil
	}
	if err != nil {
		return f, fmt.Errorf("reading the last failure of account %d: %w", account, err)
	}
	return f, nil
}
