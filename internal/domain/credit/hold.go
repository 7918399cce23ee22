package credit

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
)

// Lock locks the team's wallet until the transaction ends. Meanwhile, no other transaction can change the team's
// credits.
func (s *Service) Lock(ctx context.Context, tx *db.Tx, team int64) error {
	_, err := s.lockWallet(ctx, tx, team)
	return err
}

// Hold counts credits for future work against the daily limits of the key and the team, until the day ends or Release
// is called. It does not move credits. subject identifies the work. A new hold replaces the earlier hold for the same
// subject. It returns daily_credit_limit_reached if the amount exceeds a limit. Work that a person turns on in the app
// is not counted.
func (s *Service) Hold(ctx context.Context, tx *db.Tx, call operation.Call, subject string, amount int64) error {
	if _, err := s.lockWallet(ctx, tx, call.TeamID); err != nil {
		return err
	}
	if err := s.Release(ctx, tx, subject); err != nil {
		return err
	}
	if amount < 1 || call.InApp() {
		return nil
	}
	if err := s.checkDailyLimits(ctx, tx, call, amount); err != nil {
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

// Release ends the hold for a subject, if there is one.
func (s *Service) Release(ctx context.Context, tx *db.Tx, subject string) error {
	if _, err := tx.Exec(ctx, `UPDATE credit_holds SET released_at = ? WHERE subject = ? AND released_at = 0`,
		db.Micros(tx.Now()), subject); err != nil {
		return fmt.Errorf("releasing the hold for %s: %w", subject, err)
	}
	return nil
}
