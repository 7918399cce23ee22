package post

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// NextByAccount returns when the next scheduled post of each of a team's accounts is due. Accounts without one are
// omitted.
func (s *Service) NextByAccount(ctx context.Context, team int64) (map[int64]time.Time, error) {
	type due struct{ account, at int64 }
	found, err := db.All(ctx, s.db, func(rows *sql.Rows, d *due) error { return rows.Scan(&d.account, &d.at) },
		`SELECT t.account_id, MIN(p.scheduled_at) FROM posts p JOIN post_targets t ON t.post_id = p.id
		WHERE p.team_id = ? AND p.status = 'scheduled' AND p.is_template = 0 GROUP BY t.account_id`, team)
	if err != nil {
		return nil, fmt.Errorf("reading the next posts of team %d: %w", team, err)
	}
	out := map[int64]time.Time{}
	for _, d := range found {
		out[d.account] = db.Time(d.at)
	}
	return out, nil
}
