// Package credit is the team's money: an append-only double-entry ledger in whole credits, the reservations of paid
// work, the limits of the team's day, and the audit that proves the ledger.
//
// A team has four accounts, whose balances add up to 0: granted (what the operator gave, below 0), available,
// reserved and spent. Every change of them is a transfer, whose entries add up to 0 as well. The team's wallet
// keeps the balances; whoever changes them holds the wallet's row first, so that changes of one team come one
// after the other.
package credit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/pipeline"
	"pressroom/internal/platform/db"
	"pressroom/internal/teamtime"
)

// Kind is what a transfer is for.
type Kind string

// The kinds of transfers.
const (
	Granted   Kind = "grant"    // by the operator
	Withdrawn Kind = "withdraw" // by the operator
	Reserved  Kind = "reserve"  // set aside for paid work
	Settled   Kind = "settle"   // paid work has ended: a part is spent, the rest is available again
)

// The states of a reservation.
const (
	open    = "open"
	settled = "settled"
)

// Service keeps the ledger.
type Service struct {
	db *db.DB
	// CountFree counts a paid call that was refunded wholly as a free call of the team's day, in the transaction
	// that refunds it; nil where nobody counts.
	CountFree func(ctx context.Context, tx *db.Tx, team int64) error
	// Lowered hears what was available before and after credits were taken from it, in the transaction that takes them;
	// nil where nobody does.
	Lowered func(ctx context.Context, tx *db.Tx, team, before, after int64) error
}

// New makes the service.
func New(d *db.DB) *Service { return &Service{db: d} }

var _ pipeline.Credits = (*Service)(nil)

// Balance returns how many credits the team has left; 0 for a team that never had any.
func (s *Service) Balance(ctx context.Context, q db.Querier, team int64) (int64, error) {
	var balance int64
	err := q.QueryRow(ctx, `SELECT available FROM wallets WHERE team_id = ?`, team).Scan(&balance)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("reading the balance of team %d: %w", team, err)
	}
	return balance, nil
}

// Unspent refuses a claim that paid for an earlier call: idempotency_key_reused, reason charge_key_spent.
func (s *Service) Unspent(ctx context.Context, tx *db.Tx, claim pipeline.Claim) error {
	var id int64
	err := tx.QueryRow(ctx, paidBefore, claim.APIKey, claim.Key, claim.Hash()).Scan(&id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("looking for what an idempotency key paid for: %w", err)
	}
	return spentKey()
}

func spentKey() error {
	return apierr.New(apierr.KeyReused,
		"This request was already paid for with this Idempotency-Key, and its result has expired. Nothing was done or "+
			"charged. Use a new key to pay for it again.").
		With("reason", apierr.ChargeKeySpent)
}

// Usage is what was set aside and used of a team's credits in one of its days. A reservation counts for the day on
// which it was made, whenever it is settled.
type Usage struct {
	Ends         time.Time // the first instant of the day after
	Balance      int64     // what the team has left
	UsedTeam     int64     // settled, by everybody
	UsedKeys     int64     // the part of it that keys and assistants used
	ReservedKey  int64     // open, of the one key, and held
	ReservedTeam int64     // open, by everybody, and held
	// What counts against the limits of the day: settled, open and held.
	countedKey  int64
	countedKeys int64
}

// Today is the usage of the actor's team and key in the team's day that an instant falls in. The day is that of
// the actor's zone: what was reserved within it counts, whatever zone the team had then.
func (s *Service) Today(ctx context.Context, q db.Querier, actor *access.Actor, at time.Time) (Usage, error) {
	begins, ends := teamtime.Day(at, actor.Zone)
	u := Usage{Ends: ends}
	team, key, from, to := actor.TeamID, actor.KeyID, db.Micros(begins), db.Micros(ends)
	var heldKey, heldTeam int64
	err := q.QueryRow(ctx, usageOfDay, key, key, team, team, from, to, key, team, from, to, team, from, to).
		Scan(&u.UsedTeam, &u.UsedKeys, &u.ReservedKey, &u.ReservedTeam, &u.countedKey, &u.countedKeys, &u.Balance,
			&heldKey, &heldTeam)
	if err != nil {
		return u, fmt.Errorf("reading what team %d used today: %w", actor.TeamID, err)
	}
	u.ReservedKey, u.countedKey = u.ReservedKey+heldKey, u.countedKey+heldKey
	u.ReservedTeam, u.countedKeys = u.ReservedTeam+heldTeam, u.countedKeys+heldTeam
	return u, nil
}
