package postlist

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// MaxUsed is the maximum count of CountInMonth. Counting more posts would take too long.
const MaxUsed = 10_000

// CountInMonth returns how many posts count toward a team's monthly limit in the month of a time. It returns MaxUsed+1
// for more than MaxUsed posts. The month is in the time zone of at.
func CountInMonth(ctx context.Context, d *db.DB, team int64, at time.Time) (int64, error) {
	first, next := teamtime.Month(at, at.Location())
	var n int64
	err := d.QueryRow(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM posts WHERE team_id = ? AND slot_at >= ?
		AND slot_at < ? AND slot_at > 0 AND status <> 'draft' LIMIT ?) counted`,
		team, db.Micros(first), db.Micros(next), MaxUsed+1).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("counting the month's posts: %w", err)
	}
	return n, nil
}
