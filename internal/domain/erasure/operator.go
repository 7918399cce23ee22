package erasure

import (
	"context"
	"fmt"

	"pressroom/internal/apierr"
	"pressroom/internal/platform/db"
)

var errLastOperator = apierr.BadState("last_operator",
	"The only operator of this service has no other team and could no longer sign in. First make somebody else an "+
		"operator on the operator pages, or add the operator to another team.")

var errOnlyOperator = apierr.BadState("last_operator",
	"You are the only operator of this service. First make somebody else an operator on the operator pages.")

// ensureOperatorLeft refuses what would leave nobody who can sign in and run the service: that a person is no
// longer in a team, or that nobody is, for person 0; for team 0 in no team at all. Where nobody can as it is, nothing is
// refused.
func ensureOperatorLeft(ctx context.Context, tx *db.Tx, team, person int64, refusal error) error {
	// A team that is being deleted lets nobody in for long.
	const able = `SELECT COUNT(*) FROM people p WHERE p.operator = 1 AND p.held_at = 0 AND EXISTS (SELECT 1
		FROM memberships m JOIN teams t ON t.id = m.team_id
		WHERE m.person_id = p.id AND t.deleted_at = 0`
	var before, after int64
	if err := tx.QueryRow(ctx, able+`)`).Scan(&before); err != nil {
		return fmt.Errorf("counting who runs the service: %w", err)
	}
	if err := tx.QueryRow(ctx,
		able+` AND NOT (CAST(? AS BIGINT) IN (0, m.team_id) AND CAST(? AS BIGINT) IN (0, m.person_id)))`, team,
		person).Scan(&after); err != nil {
		return fmt.Errorf("counting who will run the service: %w", err)
	}
	if before > 0 && after == 0 {
		return refusal
	}
	return nil
}
