package approval

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// openingInterval is the minimum time between two recorded openings of a link.
const openingInterval = time.Minute

// RecordOpening records that somebody outside the team opened a link. It does nothing for links without a request.
func (s *Service) RecordOpening(ctx context.Context, token string) error {
	l, err := s.parse(token)
	if err != nil || l.request == "" {
		return err
	}
	return s.DB.InTx(ctx, "post.approval_opened", func(ctx context.Context, tx *db.Tx) error {
		now := tx.Now()
		_, err := tx.Exec(ctx, `UPDATE approval_requests SET opened_at = ? WHERE id = ? AND opened_at < ?`, db.Micros(now), l.request,
			db.Micros(now.Add(-openingInterval)))
		if err != nil {
			return fmt.Errorf("recording that an approval link was opened: %w", err)
		}
		return nil
	})
}
