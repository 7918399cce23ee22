package voice

import (
	"context"
	"database/sql"
	"errors"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
)

// Draft returns the editable content of a voice, without values derived from the team's settings.
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

// FindTeam returns the team that owns a voice, or not_found if none of the given teams does.
func (s *Service) FindTeam(ctx context.Context, id int64, teams []int64) (int64, error) {
	owner, err := db.OwningTeam(ctx, s.db, `brand_voices WHERE id = ?`, id, teams)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, apierr.ItemNotFound()
	}
	return owner, err
}
