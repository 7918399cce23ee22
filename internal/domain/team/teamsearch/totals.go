package teamsearch

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Totals holds counts for the whole installation.
type Totals struct {
	Teams, People int64 // not counting deleted teams and people
	Due, Failed   int64 // posts in a period that are still scheduled, or that failed on an account
}

// CountAll returns the totals. It counts posts in the period [from, to).
func CountAll(ctx context.Context, d *db.DB, from, to time.Time) (Totals, error) {
	var out Totals
	err := d.QueryRow(ctx, `SELECT (SELECT COUNT(*) FROM teams WHERE deleted_at = 0),
		(SELECT COUNT(*) FROM people WHERE deleted_at = 0),
		(SELECT COUNT(*) FROM posts WHERE status = 'scheduled' AND is_template = 0 AND scheduled_at >= ? AND scheduled_at < ?),
		(SELECT COUNT(*) FROM posts WHERE status IN ('failed', 'partially_published') AND slot_at >= ? AND slot_at < ?)`,
		db.Micros(from), db.Micros(to), db.Micros(from), db.Micros(to)).Scan(&out.Teams, &out.People, &out.Due, &out.Failed)
	if err != nil {
		return out, fmt.Errorf("counting teams, people and posts: %w", err)
	}
	return out, nil
}
