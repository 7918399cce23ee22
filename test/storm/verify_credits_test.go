package storm

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// charge is a reservation in its final state.
type charge struct {
	key, amount, charged   int64
	idem, tool, state, job string
	ended                  string // state of the job
}

// charges checks that each paid call has a charge, and that there are no other charges.
func (r *verifier) charges(ctx context.Context) error {
	rows, err := db.All(ctx, r.db, func(rows *sql.Rows, c *charge) error {
		return rows.Scan(&c.key, &c.amount, &c.charged, &c.idem, &c.tool, &c.state, &c.job, &c.ended)
	}, `SELECT r.key_id, r.amount, r.charged, r.idempotency_key, r.operation, r.state, COALESCE(j.id, ''),
		COALESCE(j.state, '') FROM reservations r
		LEFT JOIN jobs j ON j.reservation_id = r.id`)
	if err != nil {
		return err
	}
	there := map[string]*charge{}
	for _, c := range rows {
		name := fmt.Sprint(c.key, " ", c.idem)
		if there[name] != nil {
			r.complainf("charge", "%s with the key %s has two charges", c.tool, c.idem)
		}
		there[name] = &c
	}
	once := map[string]int64{}
	spent := map[*crew]int64{}
	for _, p := range r.book.paid {
		name := fmt.Sprint(p.key.id, " ", p.idem)
		c := there[name]
		delete(there, name)
		r.checkCharge(p, c)
		if c == nil {
			continue
		}
		spent[p.team] += c.charged
		if p.subject != "" && c.charged > 0 {
			if once[fmt.Sprint(p.team.ID, p.subject)]++; once[fmt.Sprint(p.team.ID, p.subject)] == 2 {
				r.complainf("charge", "team %s was charged twice for %s", p.team.Name, p.subject)
			}
		}
	}
	for _, c := range there {
		r.complainf("charge", "%s with the key %s was charged %d of %d but not accepted", c.tool, c.idem, c.charged, c.amount)
	}
	return r.wallets(ctx, spent)
}

// checkCharge compares a charge with its call.
func (r *verifier) checkCharge(p *paid, c *charge) {
	switch {
	case c == nil && p.charged > 0:
		r.complainf("charge", "the response to %s charged %d, but there is no charge", p.tool, p.charged)
	case c == nil:
	case c.amount != p.charged:
		r.complainf("charge", "the response to %s charged %d, but %d credits were reserved", p.tool, p.charged, c.amount)
	case c.state != "settled":
		r.complainf("stuck", "%s has %d reserved credits", p.tool, c.amount)
	case c.ended == "failed" && c.charged != 0:
		r.complainf("charge", "%s failed but was charged %d", p.tool, c.charged)
	case c.ended == "succeeded" && c.charged != c.amount:
		r.complainf("charge", "%s succeeded but was charged %d of %d", p.tool, c.charged, c.amount)
	}
}

// wallets compares each team's credits with its granted and spent credits.
func (r *verifier) wallets(ctx context.Context, spent map[*crew]int64) error {
	for _, c := range r.teams {
		var available int64
		if err := r.db.QueryRow(ctx, `SELECT available FROM wallets WHERE team_id = ?`, c.ID).Scan(&available); err != nil {
			return err
		}
		if available != c.granted-spent[c] {
			r.complainf("charge", "team %s has %d credits, want %d - %d", c.Name, available, c.granted, spent[c])
		}
	}
	return nil
}

// limits checks in the ledger that the spent and reserved credits of a day never exceeded the daily limit.
func (r *verifier) limits(ctx context.Context) error {
	type move struct {
		team, key, amount, charged, at int64
		kind                           string
	}
	moves, err := db.All(ctx, r.db, func(rows *sql.Rows, m *move) error {
		return rows.Scan(&m.team, &m.kind, &m.key, &m.amount, &m.charged, &m.at)
	},
		`SELECT t.team_id, t.kind, r.key_id, r.amount, r.charged, r.created_at FROM ledger_transfers t
		JOIN reservations r ON r.id = t.reservation_id ORDER BY t.id`)
	if err != nil {
		return err
	}
	ofTeam, ofKey := map[string]int64{}, map[string]int64{}
	limits, keyLimits := map[int64]int64{}, map[int64]int64{}
	for _, c := range r.teams {
		limits[c.ID] = c.limit
		for _, k := range c.keys {
			keyLimits[k.id] = k.limit
		}
	}
	for _, m := range moves {
		counts := m.amount
		if m.kind == "settle" {
			counts = m.charged - m.amount
		}
		day := db.Time(m.at).In(zone()).Format(time.DateOnly)
		team, key := fmt.Sprint(m.team, day), fmt.Sprint(m.key, day)
		ofTeam[team], ofKey[key] = ofTeam[team]+counts, ofKey[key]+counts
		if limit := limits[m.team]; limit >= 0 && ofTeam[team] > limit {
			r.complainf("limit", "team %d spent %d credits in a day, limit %d", m.team, ofTeam[team], limit)
		}
		if limit := keyLimits[m.key]; limit >= 0 && ofKey[key] > limit {
			r.complainf("limit", "key %d spent %d credits in a day, limit %d", m.key, ofKey[key], limit)
		}
	}
	return nil
}

// freeCalls checks that no team made more free calls than allowed. Fewer are possible, because a killed node loses
// its leases.
func (r *verifier) freeCalls(context.Context) error {
	for _, c := range r.teams {
		used := r.book.free[c]
		for _, p := range r.book.paid {
			if p.team == c && p.charged == 0 {
				used++
			}
		}
		if most := int(c.freeCalls) * r.days(); c.freeCalls > 0 && used > most {
			r.complainf("limit", "team %s made %d free calls, limit %d", c.Name, used, most)
		}
	}
	return nil
}
