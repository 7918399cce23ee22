package team

import (
	"context"
	"fmt"

	"pressroom/internal/apierr"
	"pressroom/internal/platform/db"
)

var errNobodyRuns = apierr.OperatorError("this is the only person who runs the service and can sign in; give somebody else " +
	"that right first (pressroom admin people operator EMAIL --on), or repeat this with --force")

// running counts who is an operator and can sign in: who is not on hold, and in a team that is not being deleted.
const running = `SELECT COUNT(*) FROM people p WHERE p.operator = 1 AND p.held_at = 0
	AND EXISTS (SELECT 1 FROM memberships m JOIN teams t ON t.id = m.team_id
		WHERE m.person_id = p.id AND t.deleted_at = 0)`

// EnsureOperator makes a change and undoes it if it removes the last operator.
func (s *Service) EnsureOperator(ctx context.Context, change func(ctx context.Context) error) error {
	return s.db.InTx(ctx, "team.keeping_operator", func(ctx context.Context, tx *db.Tx) error {
		var before, after int64
		if err := tx.QueryRow(ctx, running).Scan(&before); err != nil {
			return fmt.Errorf("counting who runs the service: %w", err)
		}
		if err := change(ctx); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, running).Scan(&after); err != nil {
			return fmt.Errorf("counting who runs the service still: %w", err)
		}
		if before > 0 && after == 0 {
			return errNobodyRuns
		}
		return nil
	})
}
