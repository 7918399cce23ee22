package money

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// ledger holds a team's transfers and reservations from the database.
type ledger struct {
	team         *modelTeam
	transfers    []transfer              // in order of ID
	reservations map[string]*reservation // by claimKey
}

// transfer is one transfer.
type transfer struct {
	id, change  int64 // change of the available credits
	kind        string
	reservation *reservation // its reservation; nil for a grant or withdrawal
}

// reservation is one reservation.
type reservation struct {
	id, key, amount, charged, transfer int64 // transfer is the ID of the reserving transfer
	isOpen                             bool
	created                            time.Time
}

func claimKey(key int64, idem string, hash []byte) string {
	return fmt.Sprintf("%d %x %s", key, hash, idem)
}

// readLedger reads a team's transfers in the order in which the wallet's lock serialized them.
func readLedger(ctx context.Context, d *db.DB, m *modelTeam) (*ledger, error) {
	l := &ledger{team: m, reservations: map[string]*reservation{}}
	byID := map[int64]*reservation{}
	_, err := db.All(ctx, d, func(rows *sql.Rows, p *reservation) error {
		var created int64
		var idem, state string
		var hash []byte
		if err := rows.Scan(&p.id, &p.key, &idem, &hash, &state, &p.amount, &p.charged, &created); err != nil {
			return err
		}
		stored := *p
		stored.isOpen, stored.created = state == "open", db.Time(created)
		byID[p.id], l.reservations[claimKey(p.key, idem, hash)] = &stored, &stored
		return nil
	}, `SELECT id, key_id, idempotency_key, request_hash, state, amount, charged, created_at FROM reservations WHERE team_id = ?`, m.id)
	if err != nil {
		return nil, err
	}
	l.transfers, err = db.All(ctx, d, func(rows *sql.Rows, at *transfer) error {
		var reservation int64
		err := rows.Scan(&at.id, &at.kind, &reservation, &at.change)
		if at.reservation = byID[reservation]; at.reservation != nil && at.kind == "reserve" {
			at.reservation.transfer = at.id
		}
		return err
	}, `SELECT t.id, t.kind, t.reservation_id, COALESCE(e.amount, 0) FROM ledger_transfers t LEFT
		JOIN ledger_entries e ON e.transfer_id = t.id AND e.account = 'available'
		WHERE t.team_id = ? ORDER BY t.id`, m.id)
	return l, err
}

// ledgerState is the state of a team's credits between two transfers.
type ledgerState struct {
	available int64
	keyUsage  map[string]int64 // credits counted against the limits, by key and day
	teamUsage map[string]int64 // credits counted against the limits, by day
}

// eachState calls look with every state and the transfer that follows it, nil for the last state.
func (l *ledger) eachState(look func(s ledgerState, next *transfer) error) error {
	s := ledgerState{0, map[string]int64{}, map[string]int64{}}
	for i := range l.transfers {
		at := &l.transfers[i]
		if err := look(s, at); err != nil {
			return err
		}
		s.available += at.change
		if at.reservation == nil {
			continue
		}
		counts := at.reservation.amount
		if at.kind == "settle" {
			counts = at.reservation.charged - at.reservation.amount
		}
		day := l.team.day(at.reservation.created)
		s.teamUsage[day] += counts
		s.keyUsage[fmt.Sprint(at.reservation.key, day)] += counts
	}
	return look(s, nil)
}

// rejectionFor returns the rejection of a price in state s on a day, or "" if the price is affordable.
func (l *ledger) rejectionFor(s ledgerState, key *modelKey, day string, price int64) string {
	switch {
	case key.limit >= 0 && s.keyUsage[fmt.Sprint(key.id, day)]+price > key.limit:
		return "429 daily_credit_limit_reached connection"
	case l.team.limit >= 0 && s.teamUsage[day]+price > l.team.limit:
		return "429 daily_credit_limit_reached team"
	case price > s.available:
		return "402 insufficient_credits"
	}
	return ""
}

// checkCharges returns an error if a charge exceeded the balance or a limit.
func (l *ledger) checkCharges() error {
	keys := map[int64]*modelKey{}
	for _, k := range l.team.keys {
		keys[k.id] = k
	}
	return l.eachState(func(s ledgerState, next *transfer) error {
		if s.available < 0 {
			return fmt.Errorf("team %d had %d credits", l.team.id, s.available)
		}
		if next == nil || next.kind != "reserve" {
			return nil
		}
		if why := l.rejectionFor(s, keys[next.reservation.key], l.team.day(next.reservation.created), next.reservation.amount); why != "" {
			return fmt.Errorf("reservation %d of %d credits was accepted, want rejection %s", next.reservation.id,
				next.reservation.amount, why)
		}
		return nil
	})
}

// checkRejection returns an error if no state that the call may have read explains its rejection. These are the
// states between the transfers a.before and a.after, inclusive.
func (l *ledger) checkRejection(r *request, a attempt) error {
	found := false
	var last int64
	err := l.eachState(func(s ledgerState, next *transfer) error {
		// Exclude states older than the last transfer that was committed before the call.
		seen := next == nil || next.id > a.before
		if seen && last <= a.after {
			for _, at := range []time.Time{a.sent, a.done} {
				found = found || l.rejectionFor(s, r.key, l.team.day(at), r.order.scenario().Price) == a.answer.rejection()
			}
		}
		if next != nil {
			last = next.id
		}
		return nil
	})
	if err == nil && !found {
		return fmt.Errorf("%+v: no state between transfers %d and %d explains the rejection: %s", r.order, a.before, a.after, a.answer.raw)
	}
	return err
}
