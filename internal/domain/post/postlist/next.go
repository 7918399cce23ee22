package postlist

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// NextByAccount returns, for each of a team's accounts, when its next scheduled post is due. Accounts without a
// scheduled post are omitted.
func NextByAccount(ctx context.Context, d *db.DB, team int64) (map[int64]time.Time, error) {
	type due struct{ account, at int64 }
	found, err := db.All(ctx, d, func(rows *sql.Rows, next *due) error { return rows.Scan(&next.account, &next.at) },
		`SELECT t.account_id, MIN(p.scheduled_at) FROM posts p JOIN post_targets t ON t.post_id = p.id
		WHERE p.team_id = ? AND p.status = 'scheduled' AND p.is_template = 0 GROUP BY t.account_id`, team)
	if err != nil {
		return nil, fmt.Errorf("reading the next posts of team %d: %w", team, err)
	}
	out := map[int64]time.Time{}
	for _, next := range found {
		out[next.account] = db.Time(next.at)
	}
	return out, nil
}
