package credit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/platform/db"
)

// reservation is a new reservation of credits for paid work.
type reservation struct {
	team, person, key int64
	operation         string
	idempotencyKey    string
	hash              []byte
	amount            int64
}

// Reserve sets credits aside for a paid call, in the call's transaction, and returns the reservation's ID. It returns
// daily_credit_limit_reached if the amount exceeds the daily limit of the key (scope connection) or of the team's keys
// and assistants (scope team). It returns insufficient_credits if the team has too few available credits. It returns
// idempotency_key_reused with the reason charge_key_spent if the Idempotency-Key has already paid for the same request.
func (s *Service) Reserve(ctx context.Context, tx *db.Tx, charge pipeline.Charge) (int64, error) {
	call, claim := charge.Call, charge.Claim
	if charge.Amount < 1 || claim.APIKey == 0 || claim.APIKey != call.CallerID() {
		return 0, fmt.Errorf("invalid charge of %d credits to key %d under a claim of key %d", charge.Amount,
			call.KeyID, claim.APIKey)
	}
	// Usage is read in a separate statement after the wallet is locked. A statement that waits for the lock would still
	// see the rows from before the wait.
	wallet, err := s.lockWallet(ctx, tx, call.TeamID)
	if err != nil {
		return 0, err
	}
	if err := s.checkDailyLimits(ctx, tx, call, charge.Amount); err != nil {
		return 0, err
	}
	if err := checkBalance(wallet.available, charge.Amount); err != nil {
		return 0, err
	}
	id, err := reservation{
		call.TeamID, call.PersonID, call.KeyID, call.Operation, claim.Key, claim.Hash(), charge.Amount,
	}.add(ctx, tx)
	if err != nil {
		return 0, err
	}
	return id, s.notifyBalanceLowered(ctx, tx, call.TeamID, wallet.available, charge.Amount)
}

// checkDailyLimits returns daily_credit_limit_reached if the amount exceeds a daily limit. Work that people start in
// the app is not limited.
func (s *Service) checkDailyLimits(ctx context.Context, tx *db.Tx, call operation.Call, amount int64) error {
	if call.InApp() {
		return nil
	}
	day, err := s.DailyUsage(ctx, tx, call.Actor, tx.Now())
	if err != nil {
		return err
	}
	return day.checkLimits(call.Daily, amount, tx.Now())
}

// ReserveAutomatic sets credits aside for automatic work, in the transaction that starts the work, and returns the
// reservation's ID. Daily limits do not apply. It returns insufficient_credits if the team has too few available
// credits. person is the person who turned on the automatic work.
func (s *Service) ReserveAutomatic(
	ctx context.Context, tx *db.Tx, team, person int64, operation string, amount int64,
) (int64, error) {
	if amount < 1 {
		return 0, fmt.Errorf("invalid automatic charge of %d credits", amount)
	}
	wallet, err := s.lockWallet(ctx, tx, team)
	if err != nil {
		return 0, err
	}
	if err := checkBalance(wallet.available, amount); err != nil {
		return 0, err
	}
	r := reservation{team: team, person: person, operation: operation, hash: []byte{}, amount: amount}
	id, err := r.add(ctx, tx)
	if err != nil {
		return 0, err
	}
	return id, s.notifyBalanceLowered(ctx, tx, team, wallet.available, amount)
}

// notifyBalanceLowered calls Options.BalanceLowered, if it is set, after an amount was taken from the available
// credits.
func (s *Service) notifyBalanceLowered(ctx context.Context, tx *db.Tx, team, available, amount int64) error {
	if s.opts.BalanceLowered == nil {
		return nil
	}
	return s.opts.BalanceLowered(ctx, tx, team, available, available-amount)
}

// add writes a reservation with its transfer. If two concurrent calls use the same Idempotency-Key, the unique index
// rejects the second.
func (r reservation) add(ctx context.Context, tx *db.Tx) (int64, error) {
	var id int64
	err := tx.QueryRow(ctx,
		`INSERT INTO reservations (team_id, person_id, key_id, operation, idempotency_key, request_hash, state,
		amount, charged, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
		r.team, r.person, r.key, r.operation, r.idempotencyKey, r.hash, stateOpen, r.amount, r.amount, db.Micros(tx.Now())).
		Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, keySpentError()
	}
	if err != nil {
		return 0, fmt.Errorf("reserving %d credits of team %d: %w", r.amount, r.team, err)
	}
	_, err = transfer{team: r.team, kind: KindReserve, reservation: id, movement: reserveMovement(r.amount)}.book(ctx, tx)
	return id, err
}
