package shell

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
)

// Sessions of nobody are bounded in number, not by client: a flood of sign-ins that never end removes the oldest ones
// and refuses nobody.
const (
	maxPending     = 50_000
	pendingChecked = 500
)

// trimPending removes the oldest sessions of nobody beyond the most that there may be.
func (s *store) trimPending(ctx context.Context, now time.Time) error {
	return s.db.InTx(ctx, "web.trim_sessions", func(ctx context.Context, tx *db.Tx) error {
		var last int64
		err := tx.QueryRow(ctx,
			`SELECT expires_at FROM sessions WHERE person_id = 0 AND expires_at <= ? ORDER BY expires_at DESC
		LIMIT 1 OFFSET ?`,
			db.Micros(now.Add(pending)), s.most).Scan(&last)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM sessions WHERE person_id = 0 AND expires_at <= ?`, last)
		}
		if err != nil {
			return fmt.Errorf("trimming sessions of nobody: %w", err)
		}
		return nil
	})
}
