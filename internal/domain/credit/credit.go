// Package credit manages teams' credits. It contains an append-only double-entry ledger in whole credits, reservations
// for paid work, daily limits, and an audit that checks the ledger.
//
// A team has four accounts: granted (by the operator; negative), available, reserved and spent. Their balances add up
// to 0. Every change is a transfer, and the entries of a transfer also add up to 0. The team's wallet stores the
// balances. Every change locks the wallet's row first, so changes to one team's credits are serialized.
package credit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// Kind is the purpose of a transfer.
type Kind string

// Kinds of transfers.
const (
	KindGrant    Kind = "grant"    // by the operator
	KindWithdraw Kind = "withdraw" // by the operator
	KindReserve  Kind = "reserve"  // for paid work
	KindSettle   Kind = "settle"   // ends a reservation: the charged part is spent, the rest becomes available again
)

// The states of a reservation.
const (
	stateOpen    = "open"
	stateSettled = "settled"
)

// Options connect the ledger to other services. Each function runs in the transaction of the change, and may be nil.
type Options struct {
	// CountFree counts a fully refunded paid call against the team's daily allowance of free calls.
	CountFree func(ctx context.Context, tx *db.Tx, team int64) error
	// BalanceLowered receives the available credits before and after a reservation or withdrawal.
	BalanceLowered func(ctx context.Context, tx *db.Tx, team, before, after int64) error
}

// Service manages the ledger.
type Service struct {
	db   *db.DB
	opts Options
}

// New returns a Service that uses the database d.
func New(d *db.DB, opts Options) *Service { return &Service{db: d, opts: opts} }

var _ pipeline.Credits = (*Service)(nil)

// Balance returns the team's available credits.
func (s *Service) Balance(ctx context.Context, q db.Querier, team int64) (int64, error) {
	var balance int64
	err := q.QueryRow(ctx, `SELECT available FROM wallets WHERE team_id = ?`, team).Scan(&balance)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("reading the balance of team %d: %w", team, err)
	}
	return balance, nil
}

// CheckUnspent returns nil if the claim's idempotency key has not yet paid for the claim's request. Otherwise, it
// returns idempotency_key_reused with the reason charge_key_spent.
func (s *Service) CheckUnspent(ctx context.Context, tx *db.Tx, claim pipeline.Claim) error {
	var id int64
	err := tx.QueryRow(ctx, spentKeyQuery, claim.APIKey, claim.Key, claim.Hash()).Scan(&id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("reading the reservation of an idempotency key: %w", err)
	}
	return keySpentError()
}

func keySpentError() error {
	return apierr.New(apierr.IdempotencyKeyReused,
		"This request was already paid for with this Idempotency-Key, and its result has expired. Nothing was done or "+
			"charged. Use a new key to pay for it again.").
		With("reason", apierr.ChargeKeySpent)
}

// Usage is a team's use of credits in one day. A reservation counts toward the day when it was made, not the day when
// it is settled.
type Usage struct {
	Ends         time.Time // start of the next day
	Balance      int64     // available credits
	UsedTeam     int64     // charged for settled reservations
	UsedKeys     int64     // the part of UsedTeam used by keys and assistants
	ReservedKey  int64     // open reservations and holds (see Hold) of the key
	ReservedTeam int64     // open reservations and holds of the team
	// Credits that count against the daily limits: settled, open and held.
	countedForKey  int64
	countedForKeys int64
}

// CountedKeys returns the credits that count against the daily limit of the team's keys and assistants.
func (u Usage) CountedKeys() int64 { return u.countedForKeys }

// DailyUsage returns the usage of the actor's team and key on the day that contains the time at. The day is in the
// actor's current time zone, even for reservations that were made when the team had another zone.
func (s *Service) DailyUsage(ctx context.Context, q db.Querier, actor *access.Actor, at time.Time) (Usage, error) {
	start, end := teamtime.Day(at, actor.Zone)
	u := Usage{Ends: end}
	team, key, from, to := actor.TeamID, actor.KeyID, db.Micros(start), db.Micros(end)
	var heldKey, heldTeam int64
	err := q.QueryRow(ctx, dailyUsageQuery, key, key, team, team, from, to, key, team, from, to, team, from, to).
		Scan(&u.UsedTeam, &u.UsedKeys, &u.ReservedKey, &u.ReservedTeam, &u.countedForKey, &u.countedForKeys, &u.Balance,
			&heldKey, &heldTeam)
	if err != nil {
		return u, fmt.Errorf("reading the daily usage of team %d: %w", actor.TeamID, err)
	}
	u.ReservedKey, u.countedForKey = u.ReservedKey+heldKey, u.countedForKey+heldKey
	u.ReservedTeam, u.countedForKeys = u.ReservedTeam+heldTeam, u.countedForKeys+heldTeam
	return u, nil
}
