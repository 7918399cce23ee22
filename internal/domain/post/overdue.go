package post

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
)

// ListOverdueDrafts are a team's drafts whose time has passed, the latest first: nothing sends them any more, so that a person decides
// about each. A draft may have been planned and never scheduled, or its series or the post itself was stopped meanwhile.
// What a series is made from is none.
func (s *Service) ListOverdueDrafts(ctx context.Context, team int64, before time.Time, most int) ([]Slot, error) {
	slots, err := db.All(ctx, s.db, func(rows *sql.Rows, slot *Slot) error {
		var at, series int64
		err := rows.Scan(&slot.PostID, &slot.Status, &slot.Excerpt, &at, &series)
		slot.At, slot.InSeries = db.Time(at), series != 0
		return err
	}, overdueDraftsQuery, team, db.Micros(before), most)
	if err != nil {
		return nil, fmt.Errorf("reading the drafts of team %d whose time has passed: %w", team, err)
	}
	spans := []Span{{Slots: slots}}
	return spans[0].Slots, s.addAccounts(ctx, team, spans)
}

// overdueDraftsQuery is a walk along an index of nothing else.
const overdueDraftsQuery = `SELECT id, status, excerpt, slot_at, series_id FROM posts WHERE team_id = ? AND status = 'draft' AND is_template = 0
	AND slot_at > 0 AND slot_at <= ? ORDER BY slot_at DESC, id DESC LIMIT ?`
