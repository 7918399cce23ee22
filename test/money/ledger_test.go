package money

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
)

// ledger is a team's ledger in the database, in the order of transfers.
type ledger struct {
	team  *modelTeam
	lines []line
	paid  map[string]*paid // by key, Idempotency-Key and hash of the request
}

// line is one transfer.
type line struct {
	id, change int64 // of the credits available
	kind       string
	paid       *paid // of a reservation
}

// paid is one reservation.
type paid struct {
	id, key, amount, charged, line int64
	open                           bool
	created                        time.Time
}

func claimKey(key int64, idem string, hash []byte) string {
	return fmt.Sprintf("%d %x %s", key, hash, idem)
}

// readLedger reads all movements of a team's credits in their order, which the lock on the wallet determines.
func readLedger(ctx context.Context, d *db.DB, m *modelTeam) (*ledger, error) {
	l := &ledger{team: m, paid: map[string]*paid{}}
	byID := map[int64]*paid{}
	_, err := db.All(ctx, d, func(rows *sql.Rows, p *paid) error {
		var created int64
		var idem, state string
		var hash []byte
		if err := rows.Scan(&p.id, &p.key, &idem, &hash, &state, &p.amount, &p.charged, &created); err != nil {
			return err
		}
		kept := *p
		kept.open, kept.created = state == "open", db.Time(created)
		byID[p.id], l.paid[claimKey(p.key, idem, hash)] = &kept, &kept
		return nil
	}, `SELECT id, key_id, idempotency_key, request_hash, state, amount, charged, created_at FROM reservations WHERE team_id = ?`, m.id)
	if err != nil {
		return nil, err
	}
	l.lines, err = db.All(ctx, d, func(rows *sql.Rows, at *line) error {
		var reservation int64
		err := rows.Scan(&at.id, &at.kind, &reservation, &at.change)
		if at.paid = byID[reservation]; at.paid != nil && at.kind == "reserve" {
			at.paid.line = at.id
		}
		return err
	}, `SELECT t.id, t.kind, t.reservation_id, COALESCE(e.amount, 0) FROM ledger_transfers t LEFT
		JOIN ledger_entries e ON e.transfer_id = t.id AND e.account = 'available'
		WHERE t.team_id = ? ORDER BY t.id`, m.id)
	return l, err
}

// standing is the state of a team's credits after some transfers.
type standing struct {
	available int64
	ofKey     map[string]int64 // counted against the limits, by key and day
	ofTeam    map[string]int64 // by day
}

// each calls look with the initial state and the state after each transfer.
func (l *ledger) each(look func(s standing, next *line) error) error {
	s := standing{0, map[string]int64{}, map[string]int64{}}
	for i := range l.lines {
		at := &l.lines[i]
		if err := look(s, at); err != nil {
			return err
		}
		s.available += at.change
		if at.paid == nil {
			continue
		}
		counts := at.paid.amount
		if at.kind == "settle" {
			counts = at.paid.charged - at.paid.amount
		}
		day := l.team.day(at.paid.created)
		s.ofTeam[day] += counts
		s.ofKey[fmt.Sprint(at.paid.key, day)] += counts
	}
	return look(s, nil)
}

// lacks returns how the money refuses a price on some day; empty if there is none.
func (l *ledger) lacks(s standing, key *modelKey, day string, price int64) string {
	switch {
	case key.limit >= 0 && s.ofKey[fmt.Sprint(key.id, day)]+price > key.limit:
		return "429 daily_credit_limit_reached connection"
	case l.team.limit >= 0 && s.ofTeam[day]+price > l.team.limit:
		return "429 daily_credit_limit_reached team"
	case price > s.available:
		return "402 insufficient_credits"
	}
	return ""
}

// lawful reports whether at every instant no charge was accepted that the money refuses.
func (l *ledger) lawful() error {
	keys := map[int64]*modelKey{}
	for _, k := range l.team.keys {
		keys[k.id] = k
	}
	return l.each(func(s standing, next *line) error {
		if s.available < 0 {
			return fmt.Errorf("team %d had %d credits", l.team.id, s.available)
		}
		if next == nil || next.kind != "reserve" {
			return nil
		}
		if why := l.lacks(s, keys[next.paid.key], l.team.day(next.paid.created), next.paid.amount); why != "" {
			return fmt.Errorf("reservation %d of %d was accepted where it should have been %s", next.paid.id, next.paid.amount, why)
		}
		return nil
	})
}

// checkRefusal reports whether the money refused a price in this way at some instant between two transfers, the second one
// included: the instants at which a call may have looked.
func (l *ledger) checkRefusal(r *request, a attempt) error {
	found := false
	var last int64
	err := l.each(func(s standing, next *line) error {
		// The state after the transfer before next, which is the last one that the call certainly saw, or a later one.
		seen := next == nil || next.id > a.before
		if seen && last <= a.after {
			for _, at := range []time.Time{a.sent, a.done} {
				found = found || l.lacks(s, r.key, l.team.day(at), r.order.words().Price) == a.answer.refusal()
			}
		}
		if next != nil {
			last = next.id
		}
		return nil
	})
	if err == nil && !found {
		return fmt.Errorf("%+v was refused without a reason between transfers %d and %d: %s", r.order, a.before, a.after, a.answer.raw)
	}
	return err
}
