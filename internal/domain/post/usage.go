package post

import (
	"context"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
	"pressroom/internal/teamtime"
)

// MaxCounted is how far CountInMonth counts, because more would take long.
const MaxCounted = 10_000

// CountInMonth returns how many posts a team has used in the month of a time, as its plan counts them, or
// MaxCounted+1 for more than MaxCounted. The month is that of the time's zone.
func (s *Service) CountInMonth(ctx context.Context, team int64, at time.Time) (int64, error) {
	first, next := teamtime.Month(at, at.Location())
	var n int64
	err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM posts WHERE team_id = ? AND slot_at >= ?
		AND slot_at < ? AND slot_at > 0 AND status <> 'draft' LIMIT ?) counted`,
		team, db.Micros(first), db.Micros(next), MaxCounted+1).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("counting the month's posts: %w", err)
	}
	return n, nil
}
