package shell

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Limits on anonymous sessions. They apply to all clients together: a flood of unfinished sign-ins does not reject
// visitors, but removes the oldest anonymous sessions.
const (
	maxAnonymousSessions = 50_000 // maximum number of anonymous sessions
	trimInterval         = 500    // number of new anonymous sessions between checks of the limit
)

// trimAnonymous deletes the oldest anonymous sessions if there are more than the limit.
func (s *store) trimAnonymous(ctx context.Context, now time.Time) error {
	return s.db.InTx(ctx, "web.trim_sessions", func(ctx context.Context, tx *db.Tx) error {
		var last int64
		err := tx.QueryRow(ctx,
			`SELECT expires_at FROM sessions WHERE person_id = 0 AND expires_at <= ? ORDER BY expires_at DESC
		LIMIT 1 OFFSET ?`,
			db.Micros(now.Add(signInTimeout)), s.maxAnonymousSessions).Scan(&last)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM sessions WHERE person_id = 0 AND expires_at <= ?`, last)
		}
		if err != nil {
			return fmt.Errorf("trimming anonymous sessions: %w", err)
		}
		return nil
	})
}
