package post

import (
	"context"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
)

// ListOverdueDrafts returns a team's drafts whose time has passed, the latest first. Nothing sends them
// anymore, so a person must decide. Templates are omitted.
func (s *Service) ListOverdueDrafts(ctx context.Context, team int64, before time.Time, most int) ([]Slot, error) {
	slots, err := s.slotsOf(ctx, team, overdueDraftsQuery, db.Micros(before), most)
	if err != nil {
		return nil, fmt.Errorf("listing overdue drafts of team %d: %w", team, err)
	}
	return slots, nil
}

// overdueDraftsQuery walks an index that contains only such drafts.
const overdueDraftsQuery = `SELECT ` + slotColumns + ` FROM posts p WHERE p.team_id = ?
	AND p.status = 'draft' AND p.is_template = 0
	AND p.slot_at > 0 AND p.slot_at <= ? ORDER BY p.slot_at DESC, p.id DESC LIMIT ?`
