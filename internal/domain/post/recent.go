package post

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
)

// ListRecent returns a team's last posts that were sent, or should have been, before a time, the newest first.
func (s *Service) ListRecent(ctx context.Context, team int64, before time.Time, most int) ([]Slot, error) {
	slots, err := db.All(ctx, s.db, func(rows *sql.Rows, slot *Slot) error {
		var at int64
		err := rows.Scan(&slot.PostID, &slot.Status, &slot.Excerpt, &at)
		slot.At = db.Time(at)
		return err
	}, recentQuery, team, db.Micros(before), most)
	if err != nil {
		return nil, fmt.Errorf("listing recent posts of team %d: %w", team, err)
	}
	spans := []Span{{Slots: slots}}
	return spans[0].Slots, s.addAccounts(ctx, team, spans)
}

// recentQuery walks the index of times.
const recentQuery = `SELECT id, status, excerpt, slot_at FROM posts WHERE team_id = ? AND slot_at > 0 AND slot_at <= ?
	AND status IN ('processing', 'published', 'partially_published', 'failed') ORDER BY slot_at DESC, id DESC LIMIT ?`
