package post

import (
	"context"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
)

// ListRecent returns a team's last posts that were sent, or should have been, before a time, the newest first.
func (s *Service) ListRecent(ctx context.Context, team int64, before time.Time, most int) ([]Slot, error) {
	slots, err := s.slotsOf(ctx, team, recentQuery, db.Micros(before), most)
	if err != nil {
		return nil, fmt.Errorf("listing recent posts of team %d: %w", team, err)
	}
	return slots, nil
}

// recentQuery walks the index of times.
const recentQuery = `SELECT ` + slotColumns + ` FROM posts p WHERE p.team_id = ? AND p.slot_at > 0 AND p.slot_at <= ?
	AND p.status IN ('processing', 'published', 'partially_published', 'failed')
	ORDER BY p.slot_at DESC, p.id DESC LIMIT ?`

// ListFailed returns a team's posts that failed, on all accounts or on some, after a time, the newest first. Posts
// whose outcome is unknown are included whatever their time, because they wait for a person's decision.
func (s *Service) ListFailed(ctx context.Context, team int64, after time.Time, most int) ([]Slot, error) {
	slots, err := s.slotsOf(ctx, team, failedQuery, db.Micros(after), string(TargetUnconfirmed), most)
	if err != nil {
		return nil, fmt.Errorf("listing failed posts of team %d: %w", team, err)
	}
	return slots, nil
}

// failedQuery walks an index that contains only failed posts.
const failedQuery = `SELECT ` + slotColumns + ` FROM posts p WHERE p.team_id = ?
	AND p.status IN ('failed', 'partially_published') AND (p.slot_at > ?
	OR EXISTS (SELECT 1 FROM post_targets t WHERE t.post_id = p.id AND t.state = ?))
	ORDER BY p.slot_at DESC, p.id DESC LIMIT ?`
