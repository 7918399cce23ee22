package account

import (
	"context"
	"fmt"
)

// CountUsed returns how many accounts of its plan a team uses. Lost connections keep their place.
func (s *Service) CountUsed(ctx context.Context, team int64) (int64, error) {
	var n int64
	if err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM social_accounts WHERE team_id = ?`, team).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting a team's accounts: %w", err)
	}
	return n, nil
}
