// Package lastoperator prevents changes that would leave no operator who can sign in.
package lastoperator

import (
	"context"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

var errLastOperator = apierr.OperatorError("this is the only operator who can sign in; make somebody else an operator " +
	"first (pressroom admin people operator EMAIL --on), or repeat this with --force")

// operatorCountQuery counts the operators who can sign in: not suspended, and members of a team that is not being
// deleted.
const operatorCountQuery = `SELECT COUNT(*) FROM people p WHERE p.operator = 1 AND p.held_at = 0
	AND EXISTS (SELECT 1 FROM memberships m JOIN teams t ON t.id = m.team_id
		WHERE m.person_id = p.id AND t.deleted_at = 0)`

// Option is an option of a change that can remove an operator.
type Option int

// Required makes a change return an error if it would leave no operator who can sign in.
const Required Option = 1

// WithOptions returns a function that makes a change and applies the options to it.
func WithOptions(opts []Option, change func(context.Context, *db.Tx) error) func(context.Context, *db.Tx) error {
	if !slices.Contains(opts, Required) {
		return change
	}
	return requireOperator(change)
}

// requireOperator returns a function that calls change and then returns an [apierr.OperatorError] if the change leaves
// no operator who can sign in, so that the transaction is rolled back.
func requireOperator(change func(context.Context, *db.Tx) error) func(context.Context, *db.Tx) error {
	return func(ctx context.Context, tx *db.Tx) error {
		var countBefore, countAfter int64
		if err := tx.QueryRow(ctx, operatorCountQuery).Scan(&countBefore); err != nil {
			return fmt.Errorf("counting operators: %w", err)
		}
		if err := change(ctx, tx); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, operatorCountQuery).Scan(&countAfter); err != nil {
			return fmt.Errorf("counting the remaining operators: %w", err)
		}
		if countBefore > 0 && countAfter == 0 {
			return errLastOperator
		}
		return nil
	}
}
