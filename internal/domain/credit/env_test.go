package credit

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
)

// env is the service over a fresh database, with a clock.
type env struct {
	*Service
	clock *testkit.Clock
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func each(t *testing.T, run func(t *testing.T, w env)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		run(t, env{New(testkit.Open(t, url, clock)), clock})
	})
}

func zone(name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return z
}

// fatal is what tests and properties have in common.
type fatal interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

func (w env) set(at time.Time) { w.clock.Advance(at.Sub(w.clock.Now())) }

func (w env) write(t fatal, work func(ctx context.Context, tx *db.Tx) error) {
	t.Helper()
	must.NoError(t, w.db.InTx(t.Context(), "test", work))
}

func (w env) exec(t fatal, statement string, args ...any) {
	t.Helper()
	w.write(t, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	})
}

func (w env) number(t fatal, query string, args ...any) int64 {
	t.Helper()
	var n int64
	must.NoError(t, w.db.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}

// actor is the owner of a new team, with the first of its keys and no limits.
func (w env) actor(t fatal) *access.Actor {
	t.Helper()
	var id int64
	w.write(t, func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx,
			`INSERT INTO teams (name, timezone, content_language, plan, created_at)
		VALUES ('Harbour', 'UTC', 'en', 'team', 1) RETURNING id`).Scan(&id)
	})
	return &access.Actor{
		TeamID: id, PersonID: 7, KeyID: id * 10, Role: access.Owner, Zone: time.UTC, Daily: access.Daily{KeyCredits: -1, TeamCredits: -1},
	}
}

// rich is an actor whose team has credits.
func (w env) rich(t fatal, credits int64) *access.Actor {
	t.Helper()
	a := w.actor(t)
	must.Get(w.Grant(t.Context(), a.TeamID, credits, "start", ""))(t)
	return a
}

// with changes a copy of an actor.
func with(a *access.Actor, change func(*access.Actor)) *access.Actor {
	out := *a
	change(&out)
	return &out
}

var claims atomic.Int64

// charge is a call that nobody made before.
func charge(a *access.Actor, amount int64) pipeline.Charge {
	call := operation.Call{Actor: a, Operation: "search_hashtags"}
	claim := pipeline.Claim{
		APIKey: a.KeyID, Key: fmt.Sprint("key-", claims.Add(1)), Operation: call.Operation,
		Arguments: []byte(`{"query":"coffee"}`), Paid: true,
	}
	return pipeline.Charge{Call: call, Claim: claim, Amount: amount}
}

// reserveFor reserves in a transaction of its own.
func (w env) reserveFor(ctx context.Context, c pipeline.Charge) (int64, error) {
	var id int64
	err := w.db.InTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error {
		var err error
		id, err = w.Reserve(ctx, tx, c)
		return err
	})
	return id, err
}

// unspent asks in a transaction of its own.
func (w env) unspent(ctx context.Context, c pipeline.Claim) error {
	return w.db.InTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error { return w.Unspent(ctx, tx, c) })
}

func (w env) reserve(t fatal, a *access.Actor, amount int64) int64 {
	t.Helper()
	id := must.Get(w.reserveFor(t.Context(), charge(a, amount)))(t)
	return id
}

func (w env) automatic(t fatal, a *access.Actor, amount int64) int64 {
	t.Helper()
	var id int64
	w.write(t, func(ctx context.Context, tx *db.Tx) error {
		var err error
		id, err = w.ReserveAutomatic(ctx, tx, a.TeamID, a.PersonID, "refresh_report", amount)
		return err
	})
	return id
}

func (w env) settle(t fatal, reservation, charged int64) bool {
	t.Helper()
	var done bool
	w.write(t, func(ctx context.Context, tx *db.Tx) error {
		var err error
		done, err = w.Settle(ctx, tx, reservation, charged)
		return err
	})
	return done
}

func (w env) wants(t fatal, a *access.Actor, balance, usedTeam, usedKeys, reservedKey, reservedTeam int64) {
	t.Helper()
	u := must.Get(w.Today(t.Context(), w.db, a, w.clock.Now()))(t)
	got := [5]int64{u.Balance, u.UsedTeam, u.UsedKeys, u.ReservedKey, u.ReservedTeam}
	if want := [5]int64{balance, usedTeam, usedKeys, reservedKey, reservedTeam}; got != want {
		t.Fatalf("balance, used by the team and by keys, reserved by the key and the team: %v instead of %v", got, want)
	}
	if b, err := w.Balance(t.Context(), w.db, a.TeamID); err != nil || b != balance {
		t.Fatalf("the balance is %d (%v) instead of %d", b, err, balance)
	}
}

func (w env) sound(t fatal) Report {
	t.Helper()
	r := must.Get(w.Audit(t.Context()))(t)
	if !r.Sound() {
		t.Fatalf("the audit complains: %+v", r.Complaints)
	}
	return r
}

// rows counts what the ledger holds, to see that nothing was written.
func (w env) rows(t fatal) string {
	t.Helper()
	var out strings.Builder
	for _, table := range []string{"wallets", "reservations", "ledger_transfers", "ledger_entries", "events"} {
		fmt.Fprint(&out, table, " ", w.number(t, `SELECT COUNT(*) FROM `+table), "  ")
	}
	return out.String()
}
