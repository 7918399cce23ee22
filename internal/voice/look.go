package voice

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom/internal/access"
	"pressroom/internal/db"
	"pressroom/internal/fault"
	"pressroom/internal/operation"
)

// Draft is what people said of a voice, to be changed: without what follows from the team's own settings.
func (s *Service) Draft(ctx context.Context, call operation.Call, id int64) (Draft, error) {
	if err := call.Require(access.Write); err != nil {
		return Draft{}, err
	}
	r, err := find(ctx, s.db, call.TeamID, id)
	if err != nil {
		return Draft{}, err
	}
	return r.draft()
}

// Home is the one of some teams that has a voice; not_found where none has it.
func (s *Service) Home(ctx context.Context, id int64, teams []int64) (int64, error) {
	args := []any{id}
	for _, team := range teams {
		args = append(args, team)
	}
	var home int64
	err := s.db.QueryRow(ctx, `SELECT team_id FROM brand_voices WHERE id = ? AND team_id IN (`+db.Marks(len(teams))+`)`, args...).Scan(&home)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fault.Missing()
	}
	if err != nil {
		return 0, fmt.Errorf("looking for the team of a brand voice: %w", err)
	}
	return home, nil
}
