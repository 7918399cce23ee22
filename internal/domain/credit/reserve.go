package credit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
	"pressroom/internal/platform/db"
)

// reservation is what one piece of paid work set aside.
type reservation struct {
	team, person, key int64
	operation         string
	idempotencyKey    string
	hash              []byte
	amount            int64
}

// Reserve sets a paid call's credits aside in the transaction of the call and returns the reservation's id. It
// refuses, changing nothing: an amount that crosses the key's limit of the team's day (daily_credit_limit_reached,
// scope connection) or that of the team's keys and assistants (scope team), one that the team does not have
// (insufficient_credits), and an Idempotency-Key that paid for the same request before (idempotency_key_reused,
// charge_key_spent). Any other error is a charge that no call can have.
func (s *Service) Reserve(ctx context.Context, tx *db.Tx, charge pipeline.Charge) (int64, error) {
	call, claim := charge.Call, charge.Claim
	if charge.Amount < 1 || claim.APIKey == 0 || claim.APIKey != call.CallerID() {
		return 0, fmt.Errorf("no call charges %d credits to key %d under a claim of key %d", charge.Amount, call.KeyID,
			claim.APIKey)
	}
	// What others change is read once the wallet is held, in a statement of its own: a statement that waited for
	// the row would still count what it saw before.
	a, err := s.lock(ctx, tx, call.TeamID)
	if err != nil {
		return 0, err
	}
	if err := s.withinDay(ctx, tx, call, charge.Amount); err != nil {
		return 0, err
	}
	if err := enough(a.available, charge.Amount); err != nil {
		return 0, err
	}
	id, err := reservation{
		call.TeamID, call.PersonID, call.KeyID, call.Operation, claim.Key, claim.Hash(), charge.Amount,
	}.add(ctx, tx)
	if err != nil {
		return 0, err
	}
	return id, s.lowered(ctx, tx, call.TeamID, a.available, charge.Amount)
}

// withinDay refuses an amount that crosses a limit of the day. What people do in the app has none.
func (s *Service) withinDay(ctx context.Context, tx *db.Tx, call operation.Call, amount int64) error {
	if call.InApp() {
		return nil
	}
	day, err := s.Today(ctx, tx, call.Actor, tx.Now())
	if err != nil {
		return err
	}
	return day.within(call.Daily, amount, tx.Now())
}

// ReserveAutomatic sets credits aside for work that no key or assistant asks for, in the transaction that begins
// it, and gives the reservation's id. The limits of the day do not bound it; an amount that the team does not have
// is insufficient_credits. The person is who switched the work on.
func (s *Service) ReserveAutomatic(
	ctx context.Context, tx *db.Tx, team, person int64, operation string, amount int64,
) (int64, error) {
	if amount < 1 {
		return 0, fmt.Errorf("no automatic charge is %d credits", amount)
	}
	a, err := s.lock(ctx, tx, team)
	if err != nil {
		return 0, err
	}
	if err := enough(a.available, amount); err != nil {
		return 0, err
	}
	id, err := reservation{team: team, person: person, operation: operation, hash: []byte{}, amount: amount}.add(ctx,
		tx)
	if err != nil {
		return 0, err
	}
	return id, s.lowered(ctx, tx, team, a.available, amount)
}

// lowered tells whoever wants to know that an amount was taken from what was available.
func (s *Service) lowered(ctx context.Context, tx *db.Tx, team, available, amount int64) error {
	if s.Lowered == nil {
		return nil
	}
	return s.Lowered(ctx, tx, team, available, available-amount)
}

// add writes a reservation with its transfer. Two calls with one Idempotency-Key can both have found it unspent;
// the index of what was paid for lets one of them through.
func (r reservation) add(ctx context.Context, tx *db.Tx) (int64, error) {
	var id int64
	err := tx.QueryRow(ctx,
		`INSERT INTO reservations (team_id, person_id, key_id, operation, idempotency_key, request_hash, state,
		amount, charged, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
		r.team, r.person, r.key, r.operation, r.idempotencyKey, r.hash, open, r.amount, r.amount, db.Micros(tx.Now())).
		Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, spentKey()
	}
	if err != nil {
		return 0, fmt.Errorf("reserving %d credits of team %d: %w", r.amount, r.team, err)
	}
	_, err = transfer{team: r.team, kind: Reserved, reservation: id, moves: reserving(r.amount)}.book(ctx, tx)
	return id, err
}
