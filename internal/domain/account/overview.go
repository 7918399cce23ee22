package account

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// Overview summarizes a team's accounts.
type Overview struct {
	Accounts      int64
	NeedAttention []Account // accounts with a lost or expiring connection, up to a limit
}

// Overview returns a summary of a team's accounts. It includes at most limit accounts that need attention.
func (s *Service) Overview(ctx context.Context, team int64, limit int) (Overview, error) {
	var out Overview
	var err error
	if out.Accounts, err = countUsed(ctx, s.db, team); err == nil {
		out.NeedAttention, err = db.All(ctx, s.db, scan, `SELECT `+columns+` FROM social_accounts WHERE team_id = ?
			AND disconnected_at = 0 AND connection_state <> ? ORDER BY id LIMIT ?`, team, string(Connected), limit)
	}
	if err != nil {
		return out, fmt.Errorf("summarizing the accounts of team %d: %w", team, err)
	}
	return out, nil
}
