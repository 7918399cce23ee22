package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

// Query is the query of a search.
type Query struct {
	Words    string // normalized words, separated by spaces
	Platform string
}

// ReadQuery returns the query of a team's search job, or not_found.
func ReadQuery(ctx context.Context, q db.Querier, team int64, job string) (Query, error) {
	var out Query
	err := q.QueryRow(ctx, `SELECT s.words, s.platform FROM hashtag_search_jobs s JOIN jobs j ON j.id = s.job_id
		WHERE j.id = ? AND j.team_id = ?`, job, team).Scan(&out.Words, &out.Platform)
	if errors.Is(err, sql.ErrNoRows) {
		return out, apierr.Missing()
	}
	if err != nil {
		return out, fmt.Errorf("reading the query of search %s: %w", job, err)
	}
	return out, nil
}
