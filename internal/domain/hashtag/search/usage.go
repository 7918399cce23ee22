package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom/internal/apierr"
	"pressroom/internal/platform/db"
)

// Query is what a search looks for.
type Query struct {
	Words    string // as they were typed, normalised: by themselves with blanks between them
	Platform string
}

// ReadQuery reads what a team's search looks for, by its job. A job that is no search of the team is not_found.
func ReadQuery(ctx context.Context, q db.Querier, team int64, job string) (Query, error) {
	var out Query
	err := q.QueryRow(ctx, `SELECT s.words, s.platform FROM hashtag_search_jobs s JOIN jobs j ON j.id = s.job_id WHERE j.id = ? AND j.team_id = ?`, job, team).Scan(&out.Words, &out.Platform)
	if errors.Is(err, sql.ErrNoRows) {
		return out, apierr.Missing()
	}
	if err != nil {
		return out, fmt.Errorf("reading what the search %s looks for: %w", job, err)
	}
	return out, nil
}
