package post

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
)

// ListOverdueDrafts returns a team's drafts whose time has passed, the latest first. Nothing sends them
// anymore, so a person must decide. Templates are omitted.
func (s *Service) ListOverdueDrafts(ctx context.Context, team int64, before time.Time, most int) ([]Slot, error) {
	slots, err := db.All(ctx, s.db, func(rows *sql.Rows, slot *Slot) error {
		var at, series int64
		err := rows.Scan(&slot.PostID, &slot.Status, &slot.Excerpt, &at, &series)
		slot.At, slot.InSeries = db.Time(at), series != 0
		return err
	}, overdueDraftsQuery, team, db.Micros(before), most)
	if err != nil {
		return nil, fmt.Errorf("listing overdue drafts of team %d: %w", team, err)
	}
	spans := []Span{{Slots: slots}}
	return spans[0].Slots, s.addAccounts(ctx, team, spans)
}

// overdueDraftsQuery walks an index that contains only such drafts.
const overdueDraftsQuery = `SELECT id, status, excerpt, slot_at, series_id FROM posts WHERE team_id = ?
	AND status = 'draft' AND is_template = 0
	AND slot_at > 0 AND slot_at <= ? ORDER BY slot_at DESC, id DESC LIMIT ?`
