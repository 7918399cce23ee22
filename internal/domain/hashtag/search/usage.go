package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

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
		return out, apierr.ItemNotFound()
	}
	if err != nil {
		return out, fmt.Errorf("reading the query of search %s: %w", job, err)
	}
	return out, nil
}

// RecentQuery is a recent search by a team.
type RecentQuery struct {
	Query

	JobID string
}

// RecentQueries returns a team's last searches, newest first, but no more than limit. A repeated query is listed once.
func RecentQueries(ctx context.Context, q db.Querier, team int64, limit int) ([]RecentQuery, error) {
	queries, err := db.All(ctx, q, func(rows *sql.Rows, r *RecentQuery) error { return rows.Scan(&r.Words, &r.Platform, &r.JobID) },
		`SELECT s.words, s.platform, s.job_id FROM hashtag_search_jobs s JOIN jobs j ON j.id = s.job_id
		WHERE j.team_id = ? ORDER BY j.created_at DESC, j.id DESC LIMIT ?`, team, 4*limit)
	if err != nil {
		return nil, fmt.Errorf("reading the last searches of a team: %w", err)
	}
	var out []RecentQuery
	for _, query := range queries {
		same := func(other RecentQuery) bool { return other.Query == query.Query }
		if len(out) < limit && !slices.ContainsFunc(out, same) {
			out = append(out, query)
		}
	}
	return out, nil
}
