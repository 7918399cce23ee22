package post

import (
	"context"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
)

// Late is what should have gone out by a time and was not handed over.
type Late struct {
	Posts  int64     // of teams that may publish
	Oldest time.Time // when the first of them was due; zero where there is none
	Held   int64     // of teams that are closed or may not publish: they go out once these may
}

// maxLate is how many late posts are counted: more are as bad.
const maxLate = 1000

// Late counts the scheduled posts of every team whose time came before another, for the operator: up to a thousand.
func (s *Service) Late(ctx context.Context, before time.Time) (Late, error) {
	var out Late
	var oldest int64
	err := s.db.QueryRow(ctx, `SELECT COUNT(*) FILTER (WHERE flows), COALESCE(MIN(scheduled_at) FILTER (WHERE flows), 0), COUNT(*) FILTER (WHERE NOT flows)
		FROM (SELECT scheduled_at, `+mayPublishCondition+` AS flows FROM posts WHERE status = 'scheduled' AND is_template = 0 AND scheduled_at < ? ORDER BY scheduled_at LIMIT ?) late`,
		db.Micros(before), maxLate).Scan(&out.Posts, &oldest, &out.Held)
	if err != nil {
		return out, fmt.Errorf("counting late posts: %w", err)
	}
	out.Oldest = db.Time(oldest)
	return out, nil
}
