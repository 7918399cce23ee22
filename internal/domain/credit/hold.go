package credit

import (
	"context"
	"fmt"

	"pressroom/internal/core/operation"
	"pressroom/internal/platform/db"
)

// Lock holds the team's wallet until the transaction ends: whoever holds it changes what the team has alone.
func (s *Service) Lock(ctx context.Context, tx *db.Tx, team int64) error {
	_, err := s.lock(ctx, tx, team)
	return err
}

// Hold counts credits against the limits of the key's and the team's day, until its end or Release, and moves
// nothing: they are what work to come will be charged. It refuses what crosses a limit (daily_credit_limit_reached).
// A subject that is held already today is counted once; what a person switches on in the app is not. It joins the
// transaction of the call.
func (s *Service) Hold(ctx context.Context, tx *db.Tx, call operation.Call, subject string, amount int64) error {
	if _, err := s.lock(ctx, tx, call.TeamID); err != nil {
		return err
	}
	if err := s.Release(ctx, tx, subject); err != nil {
		return err
	}
	if amount < 1 || call.InApp() {
		return nil
	}
	if err := s.withinDay(ctx, tx, call, amount); err != nil {
		return err
	}
	_, err := tx.Exec(ctx,
		`INSERT INTO credit_holds (team_id, key_id, subject, amount, created_at) VALUES (?, ?, ?, ?, ?)`,
		call.TeamID, call.KeyID, subject, amount, db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("holding %d credits of team %d: %w", amount, call.TeamID, err)
	}
	return nil
}

// Release gives back what is held for a subject.
func (s *Service) Release(ctx context.Context, tx *db.Tx, subject string) error {
	if _, err := tx.Exec(ctx, `UPDATE credit_holds SET released_at = ? WHERE subject = ? AND released_at = 0`,
		db.Micros(tx.Now()), subject); err != nil {
		return fmt.Errorf("releasing what is held for %s: %w", subject, err)
	}
	return nil
}
