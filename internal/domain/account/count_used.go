package account

import (
	"context"
	"fmt"
)

// CountUsed returns the number of accounts that count toward a team's plan. Lost connections count.
func (s *Service) CountUsed(ctx context.Context, team int64) (int64, error) {
	var n int64
	if err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM social_accounts WHERE team_id = ?`, team).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting a team's accounts: %w", err)
	}
	return n, nil
}
