package post

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Late counts posts that were due before a time and have not been submitted.
type Late struct {
	Posts   int64     // posts of teams that may publish
	Oldest  time.Time // scheduled time of the earliest of these posts; zero if there is none
	Blocked int64     // posts of teams that are closed or may not publish now
}

// maxLate is the maximum number of late posts that are counted.
const maxLate = 1000

// Late counts late posts across all teams, up to maxLate.
func (s *Service) Late(ctx context.Context, before time.Time) (Late, error) {
	var out Late
	var oldest int64
	err := s.db.QueryRow(ctx, `SELECT COUNT(*) FILTER (WHERE flows), COALESCE(MIN(scheduled_at) FILTER (WHERE flows),
		0), COUNT(*) FILTER (WHERE NOT flows)
		FROM (SELECT scheduled_at, `+mayPublishCondition+` AS flows FROM posts WHERE status = 'scheduled'
			AND is_template = 0 AND scheduled_at < ? ORDER BY scheduled_at LIMIT ?) late`,
		db.Micros(before), maxLate).Scan(&out.Posts, &oldest, &out.Blocked)
	if err != nil {
		return out, fmt.Errorf("counting late posts: %w", err)
	}
	out.Oldest = db.Time(oldest)
	return out, nil
}
