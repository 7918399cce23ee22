package credit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/platform/db"
)

func TestReserveAndSettle(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 100)
		other := changeActor(a, func(a *access.Actor) { a.KeyID++ })
		mine, theirs, automatic := w.reserve(t, a, 10), w.reserve(t, other, 5), w.automatic(t, a, 2)
		w.checkUsage(t, a, 83, 0, 0, 10, 17)
		w.checkUsage(t, other, 83, 0, 0, 5, 17)
		if !w.settle(t, mine, 7) || !w.settle(t, theirs, 0) || !w.settle(t, automatic, 2) {
			t.Error("an open reservation was not settled")
		}
		w.checkUsage(t, a, 91, 9, 7, 0, 0)
		f := w.checkAudit(t).Totals
		if f != (AuditTotals{Teams: 1, Transfers: 7, Entries: 15, Reservations: 3, Granted: 100, Available: 91, Spent: 9}) {
			t.Errorf("%+v", f)
		}
		if n := w.queryInt(t,
			`SELECT COUNT(*) FROM reservations
		WHERE team_id = ? AND person_id = 7 AND ended_at = ? AND state = 'settled'`, a.TeamID, db.Micros(noon)); n != 3 {
			t.Errorf("%d reservations ended now", n)
		}
	})
}

func TestSettleTwice(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		var free []int64
		w.opts.CountFree = func(_ context.Context, _ *db.Tx, team int64) error {
			free = append(free, team)
			return nil
		}
		a := w.actorWithCredits(t, 100)
		refunded, partly, automatic := w.reserve(t, a, 10), w.reserve(t, a, 10), w.automatic(t, a, 10)
		for i, want := range []bool{true, false} {
			for _, id := range []int64{refunded, automatic} {
				if w.settle(t, id, 0) != want {
					t.Errorf("time %d of %d", i, id)
				}
			}
			if w.settle(t, partly, 1) != want {
				t.Errorf("time %d of %d", i, partly)
			}
		}
		if w.settle(t, refunded, 99) {
			t.Error("a settled reservation was settled again")
		}
		w.checkUsage(t, a, 99, 1, 1, 0, 0)
		if !slices.Equal(free, []int64{a.TeamID}) {
			t.Errorf("free calls %v, want only the refunded call", free)
		}
		w.checkAudit(t)
	})
}

func TestInvalidSettlements(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 100)
		id := w.reserve(t, a, 10)
		before := w.rows(t)
		for _, c := range []struct {
			id, charged int64
			says        string
		}{{id, -1, "cannot be charged -1"}, {id, 11, "has 10 credits"}, {id + 1, 1, "does not exist"}} {
			err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				done, err := w.Settle(ctx, tx, c.id, c.charged)
				if done {
					t.Error("done")
				}
				return err
			})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d of reservation %d: %v", c.charged, c.id, err)
			}
		}
		stop := errors.New("stop")
		w.opts.CountFree = func(context.Context, *db.Tx, int64) error { return stop }
		err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			_, err := w.Settle(ctx, tx, id, 0)
			return err
		})
		if !errors.Is(err, stop) {
			t.Errorf("settling succeeded although CountFree failed: %v", err)
		}
		if after := w.rows(t); after != before {
			t.Errorf("%s, before %s", after, before)
		}
		w.checkUsage(t, a, 90, 0, 0, 10, 10)
	})
}

func TestReserveRollback(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 100)
		before, stop := w.rows(t), errors.New("stop")
		err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			c := charge(a, 10)
			if _, err := w.Reserve(ctx, tx, c); err != nil {
				t.Error(err)
			}
			if b, err := w.Balance(ctx, tx, a.TeamID); err != nil || b != 90 {
				t.Errorf("the balance within the transaction: %d (%v)", b, err)
			}
			if err := w.CheckUnspent(ctx, tx, c.Claim); !apierr.Is(err, apierr.IdempotencyKeyReused) {
				t.Errorf("the claim within the transaction: %v", err)
			}
			return stop
		})
		if !errors.Is(err, stop) || w.rows(t) != before {
			t.Errorf("%v; %s, before %s", err, w.rows(t), before)
		}
		w.checkUsage(t, a, 100, 0, 0, 0, 0)
	})
}

func TestRejections(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 100)
		w.settle(t, w.reserve(t, a, 8), 6)                                                   // 6 used by this key
		w.reserve(t, a, 4)                                                                   // 4 reserved
		w.settle(t, w.reserve(t, changeActor(a, func(a *access.Actor) { a.KeyID++ }), 5), 5) // 5 used by another
		w.automatic(t, a, 50)                                                                // 35 remain
		before := w.rows(t)
		const none = ""
		for _, c := range []struct {
			name                 string
			keyLimit, team, asks int64
			code                 apierr.Code
			scope                string
		}{
			{"all that is left", -1, -1, 35, none, none},
			{"more than is left", -1, -1, 36, apierr.InsufficientCredits, none},
			{"up to the key's limit", 12, -1, 2, none, none},
			{"over the key's limit", 12, -1, 3, apierr.DailyCreditLimit, "connection"},
			{"up to the team's limit", -1, 20, 5, none, none},
			{"over the team's limit", -1, 20, 6, apierr.DailyCreditLimit, "team"},
			{"over both limits and the balance", 12, 20, 40, apierr.DailyCreditLimit, "connection"},
			{"over the team's limit and the balance", 60, 20, 40, apierr.DailyCreditLimit, "team"},
			{"a key that may use none", 0, -1, 1, apierr.DailyCreditLimit, "connection"},
			{"a team that may use none", -1, 0, 1, apierr.DailyCreditLimit, "team"},
			{"a limit that was lowered", 3, -1, 1, apierr.DailyCreditLimit, "connection"},
			{"as much as there are numbers", 1 << 62, 1 << 62, 1<<63 - 1, apierr.DailyCreditLimit, "connection"},
			{"more than anybody has", -1, -1, 1<<63 - 1, apierr.InsufficientCredits, none},
		} {
			limited := changeActor(a, func(a *access.Actor) { a.Daily = access.Daily{KeyCredits: c.keyLimit, TeamCredits: c.team} })
			back := errors.New("back")
			err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				if _, err := w.Reserve(ctx, tx, charge(limited, c.asks)); err != nil {
					return err
				}
				return back
			})
			if c.code == none {
				if !errors.Is(err, back) {
					t.Errorf("%s: %v", c.name, err)
				}
				continue
			}
			checkRejection(t, c.name, err, c.code, c.scope)
		}
		if after := w.rows(t); after != before {
			t.Errorf("rejected calls changed rows: %s, before %s", after, before)
		}
		w.checkAudit(t)
	})
}

// checkRejection checks the error of a charge. It is noon, twelve hours before the team's midnight.
func checkRejection(t *testing.T, name string, err error, code apierr.Code, scope string) {
	t.Helper()
	if !apierr.Is(err, code) {
		t.Errorf("%s: %v", name, err)
		return
	}
	f := apierr.FromError(err)
	text := strings.ToLower(f.Detail)
	for _, word := range []string{"buy", "purchase", "top up", "top-up", "plan", "pay", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		if strings.Contains(text, word) {
			t.Errorf("%s: %q says %q", name, f.Detail, word)
		}
	}
	if scope == "" {
		if f.RetryAfter != 0 || len(f.Context) != 0 {
			t.Errorf("%s: %+v", name, f)
		}
		return
	}
	if f.Context["scope"] != scope || f.RetryAfter != 12*time.Hour || f.Context["retry_after_seconds"] != 12*3600 {
		t.Errorf("%s: %+v", name, f)
	}
}

func TestTeamWithoutWallet(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actor(t)
		_, err := w.reserveFor(t.Context(), charge(a, 1))
		checkRejection(t, "no wallet", err, apierr.InsufficientCredits, "")
		err = w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			_, err := w.ReserveAutomatic(ctx, tx, a.TeamID, a.PersonID, "refresh_report", 1)
			return err
		})
		checkRejection(t, "automatic", err, apierr.InsufficientCredits, "")
		w.checkUsage(t, a, 0, 0, 0, 0, 0)
		if n := w.queryInt(t, `SELECT COUNT(*) FROM wallets`); n != 0 {
			t.Errorf("%d wallets", n)
		}
		w.checkAudit(t)
	})
}

func TestInvalidCharges(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 100)
		before := w.rows(t)
		anothers := charge(a, 1)
		anothers.Claim.APIKey++
		for name, c := range map[string]pipeline.Charge{
			"nothing": charge(a, 0), "less than nothing": charge(a, -1), "no key": charge(changeActor(a, func(a *access.Actor) {
				a.KeyID = 0
			}), 1), "another key's claim": anothers,
		} {
			if _, err := w.reserveFor(t.Context(), c); err == nil || apierr.FromError(err).Code != apierr.Internal {
				t.Errorf("%s: %v", name, err)
			}
		}
		err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			_, err := w.ReserveAutomatic(ctx, tx, a.TeamID, 7, "refresh_report", 0)
			return err
		})
		if err == nil || w.rows(t) != before {
			t.Errorf("automatic: %v", err)
		}
	})
}

// TestIdempotencyKeyPaysOnce checks that an Idempotency-Key pays once per request and API key.
func TestIdempotencyKeyPaysOnce(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 100)
		first := charge(a, 5)
		if err := w.unspent(t.Context(), first.Claim); err != nil {
			t.Fatal(err)
		}
		id, err := w.reserveFor(t.Context(), first)
		if err != nil {
			t.Fatal(err)
		}
		w.settle(t, id, 0) // a refunded request counts as paid
		another, elsewhere, request := first, first, first
		another.Claim.Key += "x"
		elsewhere.Call.Actor, elsewhere.Claim.APIKey = changeActor(a, func(a *access.Actor) { a.KeyID++ }), a.KeyID+1
		request.Claim.Arguments = []byte(`{"query":"tea"}`)
		for _, c := range []pipeline.Charge{another, elsewhere, request} {
			if err := w.unspent(t.Context(), c.Claim); err != nil {
				t.Errorf("%+v: %v", c.Claim, err)
			}
			w.settle(t, mustReserve(t, w, c), 1)
		}
		_, err = w.reserveFor(t.Context(), first)
		for _, err := range []error{err, w.unspent(t.Context(), first.Claim)} {
			if !apierr.Is(err, apierr.IdempotencyKeyReused) || apierr.FromError(err).Context["reason"] != apierr.ChargeKeySpent {
				t.Errorf("%v", err)
			}
		}
		w.checkUsage(t, a, 97, 3, 3, 0, 0)
		w.checkAudit(t)
	})
}

func mustReserve(t *testing.T, w env, c pipeline.Charge) int64 {
	t.Helper()
	id, err := w.reserveFor(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// chargeConcurrently runs fifty charges concurrently and counts their results.
func chargeConcurrently(t *testing.T, w env, c func(i int) pipeline.Charge) map[string]int {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	out := map[string]int{}
	for i := range 50 {
		wg.Go(func() {
			_, err := w.reserveFor(t.Context(), c(i))
			end := "reserved"
			if err != nil {
				f := apierr.FromError(err)
				end = fmt.Sprintf("%s %v %v", f.Code, f.Context["scope"], f.Context["reason"])
			}
			mu.Lock()
			defer mu.Unlock()
			out[end]++
		})
	}
	wg.Wait()
	w.checkAudit(t)
	return out
}

func TestFiftyConcurrentReservations(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		poor := w.actorWithCredits(t, 40)
		if got := chargeConcurrently(t, w, func(int) pipeline.Charge {
			return charge(poor, 2)
		}); got["reserved"] != 20 || got["insufficient_credits <nil> <nil>"] != 30 {
			t.Errorf("on 40 credits: %v", got)
		}
		w.checkUsage(t, poor, 0, 0, 0, 40, 40)

		bounded := changeActor(w.actorWithCredits(t, 1000), func(a *access.Actor) { a.Daily.KeyCredits = 15 })
		if got := chargeConcurrently(t, w, func(int) pipeline.Charge {
			return charge(bounded, 2)
		}); got["reserved"] != 7 || got["daily_credit_limit_reached connection <nil>"] != 43 {
			t.Errorf("under a limit of 15 for the key: %v", got)
		}

		team := changeActor(w.actorWithCredits(t, 1000), func(a *access.Actor) { a.Daily.TeamCredits = 31 })
		got := chargeConcurrently(t, w, func(i int) pipeline.Charge {
			return charge(changeActor(team, func(a *access.Actor) { a.KeyID += int64(i % 5) }), 3)
		})
		if got["reserved"] != 10 || got["daily_credit_limit_reached team <nil>"] != 40 {
			t.Errorf("under a limit of 31 for five keys: %v", got)
		}

		same := charge(w.actorWithCredits(t, 1000), 1)
		if got := chargeConcurrently(t, w, func(int) pipeline.Charge {
			return same
		}); got["reserved"] != 1 || got["idempotency_key_reused <nil> charge_key_spent"] != 49 {
			t.Errorf("with one Idempotency-Key: %v", got)
		}
	})
}

// TestConcurrentSettle checks that concurrent and repeated reservations and settlements leave a valid ledger.
func TestConcurrentSettle(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 30)
		var mu sync.Mutex
		var wg sync.WaitGroup
		var spent, ended int64
		settle := func(id, charged int64) {
			if w.settle(t, id, charged) {
				mu.Lock()
				defer mu.Unlock()
				spent, ended = spent+charged, ended+1
			}
		}
		var reserved int64
		for i := range int64(50) {
			wg.Go(func() {
				id, err := w.reserveFor(t.Context(), charge(a, 3))
				if apierr.Is(err, apierr.InsufficientCredits) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				reserved++
				mu.Unlock()
				var twice sync.WaitGroup
				twice.Go(func() { settle(id, i%4) })
				twice.Go(func() { settle(id, i%4) })
				twice.Wait()
			})
		}
		wg.Wait()
		if ended != reserved || spent > 30 {
			t.Errorf("%d reserved, %d settled, %d spent", reserved, ended, spent)
		}
		w.checkUsage(t, a, 30-spent, spent, spent, 0, 0)
		w.checkAudit(t)
	})
}
