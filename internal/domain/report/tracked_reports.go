package report

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// CountTracked returns how many reports a team tracks.
func (s *Service) CountTracked(ctx context.Context, team int64) (int64, error) {
	var n int64
	if err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM reports WHERE team_id = ? AND tracked = 1`, team).
		Scan(&n); err != nil {
		return 0, fmt.Errorf("counting the tracked reports: %w", err)
	}
	return n, nil
}

// TrackedReport is a report that is refreshed automatically.
type TrackedReport struct {
	ID        string
	Kind      string // profile or hashtag
	Platform  string
	Subject   string // a user name or a hashtag
	Frequency int64  // days
}

// maxTracked limits the result of TrackedByKey.
const maxTracked = 200

// TrackedByKey returns up to 200 of a team's tracked reports whose tracking was turned on with an API key.
func (s *Service) TrackedByKey(ctx context.Context, team, key int64) ([]TrackedReport, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, r *TrackedReport) error {
		return rows.Scan(&r.ID, &r.Kind, &r.Platform, &r.Subject, &r.Frequency)
	}, `SELECT id, kind, platform, subject, frequency_days FROM reports WHERE team_id = ? AND tracked = 1
		AND tracked_key = ? ORDER BY id LIMIT ?`, team, key, maxTracked)
	if err != nil {
		return nil, fmt.Errorf("listing the reports tracked by a key: %w", err)
	}
	return out, nil
}
