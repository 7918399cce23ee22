package credit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom/internal/platform/db"
)

// Settle ends a reservation in the transaction that ends its work: the charged credits, from 0 to what was
// reserved, are spent and the rest is available again; 0 is a full refund. It tells whether it did so: a
// reservation that was settled before stays as it is, since two workers may both come to end one piece of work.
// A reservation that does not exist and a charge beyond it are errors.
func (s *Service) Settle(ctx context.Context, tx *db.Tx, reservation, charged int64) (bool, error) {
	return s.settle(ctx, tx, reservation, func(begun) int64 { return charged })
}

// Charge is Settle with all that was reserved.
func (s *Service) Charge(ctx context.Context, tx *db.Tx, reservation int64) (bool, error) {
	return s.settle(ctx, tx, reservation, func(r begun) int64 { return r.amount })
}

// Refund is Settle with nothing.
func (s *Service) Refund(ctx context.Context, tx *db.Tx, reservation int64) (bool, error) {
	return s.Settle(ctx, tx, reservation, 0)
}

func (s *Service) settle(ctx context.Context, tx *db.Tx, reservation int64, charge func(begun) int64) (bool, error) {
	r, err := s.lockReservation(ctx, tx, reservation)
	if err != nil || r.state == settled {
		return false, err
	}
	charged := charge(r)
	if charged < 0 || charged > r.amount {
		return false, fmt.Errorf("reservation %d set %d credits aside and cannot be charged %d", reservation, r.amount,
			charged)
	}
	n, err := tx.Exec(ctx, `UPDATE reservations SET state = ?, charged = ?, ended_at = ? WHERE id = ? AND state = ?`,
		settled, charged, db.Micros(tx.Now()), reservation, open)
	if err != nil {
		return false, fmt.Errorf("settling reservation %d: %w", reservation, err)
	}
	if n != 1 {
		return false, fmt.Errorf("reservation %d is neither open nor settled", reservation)
	}
	if err := keepAbout(ctx, tx, r.team, reservation); err != nil {
		return false, err
	}
	if _, err := (transfer{
		team: r.team, kind: Settled, reservation: reservation, moves: settling(r.amount, charged),
	}).book(ctx, tx); err != nil {
		return false, err
	}
	return true, s.countFree(ctx, tx, r, charged)
}

// countFree counts a call that cost nothing in the end; an automatic charge was no call.
func (s *Service) countFree(ctx context.Context, tx *db.Tx, r begun, charged int64) error {
	if charged > 0 || r.key == 0 || s.CountFree == nil {
		return nil
	}
	return s.CountFree(ctx, tx, r.team)
}

// begun is a reservation as Settle finds it.
type begun struct {
	team, key, amount int64
	state             string
}

// lockReservation reads a reservation once the transaction holds its team's wallet. The wallet comes first
// everywhere, so that nobody waits in a circle.
func (s *Service) lockReservation(ctx context.Context, tx *db.Tx, id int64) (begun, error) {
	var r begun
	err := tx.QueryRow(ctx,
		`SELECT team_id FROM wallets WHERE team_id = (SELECT team_id FROM reservations WHERE id = ?)`+s.db.ForUpdate(),
		id).Scan(&r.team)
	if errors.Is(err, sql.ErrNoRows) {
		return r, fmt.Errorf("there is no reservation %d to settle", id)
	}
	if err != nil {
		return r, fmt.Errorf("locking the wallet of reservation %d: %w", id, err)
	}
	if err := tx.QueryRow(ctx, `SELECT key_id, amount, state FROM reservations WHERE id = ?`, id).
		Scan(&r.key, &r.amount, &r.state); err != nil {
		return r, fmt.Errorf("reading reservation %d: %w", id, err)
	}
	return r, nil
}

// Charged is what a reservation was charged, or where it is open what was set aside; 0 of none.
func (s *Service) Charged(ctx context.Context, q db.Querier, reservation int64) (int64, error) {
	var charged int64
	err := q.QueryRow(ctx, `SELECT charged FROM reservations WHERE id = ?`, reservation).Scan(&charged)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("reading reservation %d: %w", reservation, err)
	}
	return charged, nil
}

// Returned is what was given back of a reservation; 0 of none, and of one that is open.
func (s *Service) Returned(ctx context.Context, reservation int64) (int64, error) {
	var returned int64
	err := s.db.QueryRow(ctx, `SELECT amount - charged FROM reservations WHERE id = ? AND state = 'settled'`,
		reservation).Scan(&returned)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("reading reservation %d: %w", reservation, err)
	}
	return returned, nil
}
