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

// A Check inspects a change in its transaction and undoes it with an error.
type Check func(ctx context.Context, tx *db.Tx, change func() error) error

// KeepOperator is a Check that undoes a change that removes the last operator.
func KeepOperator(ctx context.Context, tx *db.Tx, change func() error) error {
	var before, after int64
	if err := tx.QueryRow(ctx, running).Scan(&before); err != nil {
		return fmt.Errorf("counting operators: %w", err)
	}
	if err := change(); err != nil {
		return err
	}
	if err := tx.QueryRow(ctx, running).Scan(&after); err != nil {
		return fmt.Errorf("counting the operators left: %w", err)
	}
	if before > 0 && after == 0 {
		return errNobodyRuns
	}
	return nil
}

// withChecks returns a change that passes through checks.
func withChecks(checks []Check, change func(context.Context, *db.Tx) error) func(context.Context, *db.Tx) error {
	for _, check := range checks {
		unchecked := change
		change = func(ctx context.Context, tx *db.Tx) error {
			return check(ctx, tx, func() error { return unchecked(ctx, tx) })
		}
	}
	return change
}
