package media

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// UsedBytes returns how many bytes a team's stored files take up. It does not include the space that is reserved for
// open upload links.
func (s *Service) UsedBytes(ctx context.Context, team int64) (int64, error) {
	var n int64
	err := s.db.QueryRow(ctx, `SELECT used_bytes FROM storage WHERE team_id = ?`, team).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("reading a team's storage: %w", err)
	}
	return n, nil
}
