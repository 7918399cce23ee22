package list

import (
	"context"
	"fmt"
)

// Count is how many lists of its plan a team has saved.
func (s *Service) Count(ctx context.Context, team int64) (int64, error) {
	var n int64
	if err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM hashtag_lists WHERE team_id = ?`, team).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting the hashtag lists: %w", err)
	}
	return n, nil
}
