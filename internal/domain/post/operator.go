package post

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// DueCount is the number of due posts that have not been submitted.
type DueCount struct {
	Blocked bool // the team is closed or publishing is paused
	Posts   int64
	Oldest  time.Time // scheduled time of the earliest of these posts
}

// CountDue counts the due posts of all teams. It returns one count for blocked posts and one for the other posts.
func (s *Service) CountDue(ctx context.Context) ([]DueCount, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, due *DueCount) error {
		var held, oldest int64
		err := rows.Scan(&held, &due.Posts, &oldest)
		due.Blocked, due.Oldest = held > 0, db.Time(oldest)
		return err
	}, `SELECT held, COUNT(*), MIN(scheduled_at) FROM (SELECT scheduled_at, CASE WHEN `+mayPublishCondition+` THEN 0
		ELSE 1 END AS held FROM posts
		WHERE status = 'scheduled' AND is_template = 0 AND scheduled_at <= ?) AS due GROUP BY held ORDER BY held`,
		db.Micros(s.db.Now()))
	if err != nil {
		return nil, fmt.Errorf("counting due posts: %w", err)
	}
	return out, nil
}
