package erasure

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

var errLastOperator = apierr.BadState("last_operator",
	"The only operator of this service has no other team and could no longer sign in. First make somebody else an "+
		"operator on the operator pages, or add the operator to another team.")

var errOnlyOperator = apierr.BadState("last_operator",
	"You are the only operator of this service. First make somebody else an operator on the operator pages.")

// ensureOperatorRemains returns rejection if no operator could sign in after a person has left a team. person 0 means
// all members, and team 0 means all teams. If no operator can sign in now either, it returns nil.
func ensureOperatorRemains(ctx context.Context, tx *db.Tx, team, person int64, rejection error) error {
	// Members of a team that is being deleted cannot sign in for much longer.
	const countQuery = `SELECT COUNT(*) FROM people p WHERE p.operator = 1 AND p.held_at = 0 AND EXISTS (SELECT 1
		FROM memberships m JOIN teams t ON t.id = m.team_id
		WHERE m.person_id = p.id AND t.deleted_at = 0`
	var countBefore, countAfter int64
	if err := tx.QueryRow(ctx, countQuery+`)`).Scan(&countBefore); err != nil {
		return fmt.Errorf("counting the operators: %w", err)
	}
	if err := tx.QueryRow(ctx,
		countQuery+` AND NOT (CAST(? AS BIGINT) IN (0, m.team_id) AND CAST(? AS BIGINT) IN (0, m.person_id)))`, team,
		person).Scan(&countAfter); err != nil {
		return fmt.Errorf("counting the operators: %w", err)
	}
	if countBefore > 0 && countAfter == 0 {
		return rejection
	}
	return nil
}
