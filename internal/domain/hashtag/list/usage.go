package list

import (
	"context"
	"fmt"
)

// Count returns the number of a team's lists.
func (s *Service) Count(ctx context.Context, team int64) (int64, error) {
	var n int64
	if err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM hashtag_lists WHERE team_id = ?`, team).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting the hashtag lists: %w", err)
	}
	return n, nil
}
