package account

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/platform/db"
)

// CountUsed returns the number of accounts that count toward a team's plan. Lost connections count, because they can be
// reconnected at any time. Disconnected accounts do not count.
func (s *Service) CountUsed(ctx context.Context, team int64) (int64, error) {
	return countUsed(ctx, s.db, team)
}

func countUsed(ctx context.Context, q db.Querier, team int64) (int64, error) {
	var n int64
	err := q.QueryRow(ctx, `SELECT COUNT(*) FROM social_accounts WHERE team_id = ? AND disconnected_at = 0`, team).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("counting a team's accounts: %w", err)
	}
	return n, nil
}

// slotsLeft returns how many more accounts a team's plan allows, or plan.Unlimited.
func slotsLeft(ctx context.Context, q db.Querier, team int64, p plan.Plan) (int64, error) {
	if p.SocialAccounts == plan.Unlimited {
		return plan.Unlimited, nil
	}
	n, err := countUsed(ctx, q, team)
	if err != nil {
		return 0, err
	}
	return max(0, p.SocialAccounts-n), nil
}
