package credit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// Settle ends a reservation in the transaction that ends its work. It spends the charged credits, from 0 to the
// reserved amount, and makes the rest available again. It returns false if the reservation was already settled, which
// can happen if two workers end the same work.
func (s *Service) Settle(ctx context.Context, tx *db.Tx, reservation, charged int64) (bool, error) {
	return s.settle(ctx, tx, reservation, func(lockedReservation) int64 { return charged })
}

// Charge settles a reservation and spends its full amount.
func (s *Service) Charge(ctx context.Context, tx *db.Tx, reservation int64) (bool, error) {
	return s.settle(ctx, tx, reservation, func(r lockedReservation) int64 { return r.amount })
}

// Refund settles a reservation without a charge, so that the full amount is available again.
func (s *Service) Refund(ctx context.Context, tx *db.Tx, reservation int64) (bool, error) {
	return s.Settle(ctx, tx, reservation, 0)
}

func (s *Service) settle(ctx context.Context, tx *db.Tx, reservation int64, chargeFor func(lockedReservation) int64) (bool, error) {
	r, err := s.lockReservation(ctx, tx, reservation)
	if err != nil || r.state == stateSettled {
		return false, err
	}
	charged := chargeFor(r)
	if charged < 0 || charged > r.amount {
		return false, fmt.Errorf("reservation %d has %d credits and cannot be charged %d", reservation, r.amount,
			charged)
	}
	n, err := tx.Exec(ctx, `UPDATE reservations SET state = ?, charged = ?, ended_at = ? WHERE id = ? AND state = ?`,
		stateSettled, charged, db.Micros(tx.Now()), reservation, stateOpen)
	if err != nil {
		return false, fmt.Errorf("settling reservation %d: %w", reservation, err)
	}
	if n != 1 {
		return false, fmt.Errorf("reservation %d is neither open nor settled", reservation)
	}
	if err := saveSubject(ctx, tx, r.team, reservation); err != nil {
		return false, err
	}
	if _, err := (transfer{
		team: r.team, kind: KindSettle, reservation: reservation, movement: settleMovement(r.amount, charged),
	}).book(ctx, tx); err != nil {
		return false, err
	}
	return true, s.countFree(ctx, tx, r, charged)
}

// countFree counts a fully refunded call of a key as a free call. Automatic work and work started in the app are not
// counted.
func (s *Service) countFree(ctx context.Context, tx *db.Tx, r lockedReservation, charged int64) error {
	if charged > 0 || r.key == 0 || s.opts.CountFree == nil {
		return nil
	}
	return s.opts.CountFree(ctx, tx, r.team)
}

// lockedReservation is a reservation whose team's wallet is locked.
type lockedReservation struct {
	team, key, amount int64
	state             string
}

// lockReservation locks the wallet of a reservation's team and returns the reservation. Every transaction locks the
// wallet first, which prevents deadlocks.
func (s *Service) lockReservation(ctx context.Context, tx *db.Tx, id int64) (lockedReservation, error) {
	var r lockedReservation
	err := tx.QueryRow(ctx,
		`SELECT team_id FROM wallets WHERE team_id = (SELECT team_id FROM reservations WHERE id = ?)`+s.db.ForUpdate(),
		id).Scan(&r.team)
	if errors.Is(err, sql.ErrNoRows) {
		return r, fmt.Errorf("reservation %d does not exist", id)
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

// ChargedCredits returns the credits charged for a reservation, or its amount while it is open. It returns 0 if the
// reservation does not exist.
func (s *Service) ChargedCredits(ctx context.Context, q db.Querier, reservation int64) (int64, error) {
	var charged int64
	err := q.QueryRow(ctx, `SELECT charged FROM reservations WHERE id = ?`, reservation).Scan(&charged)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("reading reservation %d: %w", reservation, err)
	}
	return charged, nil
}

// ReservedCredits returns the amount of an open reservation, or 0 if the reservation is not open.
func (s *Service) ReservedCredits(ctx context.Context, reservation int64) (int64, error) {
	return s.reservationAmount(ctx, `SELECT amount FROM reservations WHERE id = ? AND state = 'open'`, reservation)
}

// RefundedCredits returns the refunded part of a settled reservation, or 0 if the reservation is not settled.
func (s *Service) RefundedCredits(ctx context.Context, reservation int64) (int64, error) {
	return s.reservationAmount(ctx, `SELECT amount - charged FROM reservations WHERE id = ? AND state = 'settled'`, reservation)
}

func (s *Service) reservationAmount(ctx context.Context, query string, reservation int64) (int64, error) {
	var amount int64
	err := s.db.QueryRow(ctx, query, reservation).Scan(&amount)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("reading reservation %d: %w", reservation, err)
	}
	return amount, nil
}
