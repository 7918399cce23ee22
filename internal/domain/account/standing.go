package account

import (
	"context"
	"fmt"

	"pressroom/internal/platform/db"
)

// Overview is how a team's accounts stand, in short.
type Overview struct {
	Accounts int64
	Ailing   []Account // those whose connection is lost or about to end, the first of them
}

// Overview tells how a team's accounts stand, with the first few that a person has to look after.
func (s *Service) Overview(ctx context.Context, team int64, most int) (Overview, error) {
	var out Overview
	err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM social_accounts WHERE team_id = ? AND disconnected_at = 0`, team).Scan(&out.Accounts)
	if err == nil {
		out.Ailing, err = db.All(ctx, s.db, scan, `SELECT `+columns+` FROM social_accounts WHERE team_id = ? AND disconnected_at = 0 AND connection_state <> ? ORDER BY id LIMIT ?`, team, string(Connected), most)
	}
	if err != nil {
		return out, fmt.Errorf("reading how the accounts of team %d stand: %w", team, err)
	}
	return out, nil
}
