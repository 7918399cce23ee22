package credit

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
)

// env is a service on a fresh database, with a clock.
type env struct {
	*Service
	clock *testkit.Clock
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func each(t *testing.T, run func(t *testing.T, w env)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		run(t, env{New(testkit.Open(t, url, clock), Options{}), clock})
	})
}

func zone(name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return z
}

// fatal is the common part of testing.T and rapid.T.
type fatal interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

func (w env) set(at time.Time) { w.clock.Advance(at.Sub(w.clock.Now())) }

func (w env) write(t fatal, work func(ctx context.Context, tx *db.Tx) error) {
	t.Helper()
	if err := w.db.InTx(t.Context(), "test", work); err != nil {
		t.Fatal(err)
	}
}

func (w env) exec(t fatal, statement string, args ...any) {
	t.Helper()
	w.write(t, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	})
}

func (w env) queryInt(t fatal, query string, args ...any) int64 {
	t.Helper()
	var n int64
	if err := w.db.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// actor returns the owner of a new team, with its first key and no limits.
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

// actorWithCredits returns an actor whose team has credits.
func (w env) actorWithCredits(t fatal, credits int64) *access.Actor {
	t.Helper()
	a := w.actor(t)
	if _, err := w.Grant(t.Context(), a.TeamID, credits, "start", ""); err != nil {
		t.Fatal(err)
	}
	return a
}

// changeActor returns a changed copy of an actor.
func changeActor(a *access.Actor, change func(*access.Actor)) *access.Actor {
	out := *a
	change(&out)
	return &out
}

var claims atomic.Int64

// charge returns a new call.
func charge(a *access.Actor, amount int64) pipeline.Charge {
	call := operation.Call{Actor: a, Operation: "search_hashtags"}
	claim := pipeline.Claim{
		APIKey: a.KeyID, Key: fmt.Sprint("key-", claims.Add(1)), Operation: call.Operation,
		Arguments: []byte(`{"query":"coffee"}`), Paid: true,
	}
	return pipeline.Charge{Call: call, Claim: claim, Amount: amount}
}

// reserveFor reserves in its own transaction.
func (w env) reserveFor(ctx context.Context, c pipeline.Charge) (int64, error) {
	var id int64
	err := w.db.InTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error {
		var err error
		id, err = w.Reserve(ctx, tx, c)
		return err
	})
	return id, err
}

// unspent calls Unspent in its own transaction.
func (w env) unspent(ctx context.Context, c pipeline.Claim) error {
	return w.db.InTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error { return w.CheckUnspent(ctx, tx, c) })
}

func (w env) reserve(t fatal, a *access.Actor, amount int64) int64 {
	t.Helper()
	id, err := w.reserveFor(t.Context(), charge(a, amount))
	if err != nil {
		t.Fatal(err)
	}
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

func (w env) checkUsage(t fatal, a *access.Actor, balance, usedTeam, usedKeys, reservedKey, reservedTeam int64) {
	t.Helper()
	u, err := w.DailyUsage(t.Context(), w.db, a, w.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	got := [5]int64{u.Balance, u.UsedTeam, u.UsedKeys, u.ReservedKey, u.ReservedTeam}
	if want := [5]int64{balance, usedTeam, usedKeys, reservedKey, reservedTeam}; got != want {
		t.Fatalf("balance, used by the team and by keys, reserved by the key and the team: %v instead of %v", got, want)
	}
	if b, err := w.Balance(t.Context(), w.db, a.TeamID); err != nil || b != balance {
		t.Fatalf("the balance is %d (%v) instead of %d", b, err, balance)
	}
}

func (w env) checkAudit(t fatal) Report {
	t.Helper()
	r, err := w.Audit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() {
		t.Fatalf("audit violations: %+v", r.Violations)
	}
	return r
}

// rows returns the numbers of rows, to check that nothing was written.
func (w env) rows(t fatal) string {
	t.Helper()
	var out strings.Builder
	for _, table := range []string{"wallets", "reservations", "ledger_transfers", "ledger_entries", "events"} {
		fmt.Fprint(&out, table, " ", w.queryInt(t, `SELECT COUNT(*) FROM `+table), "  ")
	}
	return out.String()
}
