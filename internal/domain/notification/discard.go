package notification

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// DiscardMail cancels the emails and channel messages of all notifications created at or before the given time. Call it
// for a restored database, because the original installation may have sent them.
func (*Service) DiscardMail(ctx context.Context, tx *db.Tx, until time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE notices SET mail_at = 0, unmailed = 1 WHERE mail_at > 0 AND created_at <= ?`,
		db.Micros(until))
	if err != nil {
		return fmt.Errorf("discarding pending emails: %w", err)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM channel_notices WHERE created_at <= ?`, db.Micros(until)); err != nil {
		return fmt.Errorf("discarding pending messages to channels: %w", err)
	}
	return nil
}
