package notification

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// DiscardMail cancels the emails of all notices that were created before a time. A restored database calls it, because the
// original installation may have sent them.
func (*Service) DiscardMail(ctx context.Context, tx *db.Tx, by time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE notices SET mail_at = 0, unmailed = 1 WHERE mail_at > 0 AND created_at <= ?`,
		db.Micros(by))
	if err != nil {
		return fmt.Errorf("discarding pending mail: %w", err)
	}
	return nil
}
