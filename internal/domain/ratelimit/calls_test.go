package ratelimit

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
)

// callDay is one database, its clock, and a team in Berlin whose day is the 21st of November, UTC+1.
type callDay struct {
	url   string
	clock *testkit.Clock
	db    *db.DB
	team  int64
}

var callNoon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const untilMidnight = 11 * time.Hour

func eachCallDay(t *testing.T, run func(t *testing.T, w callDay)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := callDay{url: url, clock: testkit.NewClock(callNoon)}
		w.db = testkit.Open(t, url, w.clock)
		w.team = addCallTeam(t, w.db, "Europe/Berlin")
		run(t, w)
	})
}

type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func addCallTeam(t failer, d *db.DB, zone string) int64 {
	t.Helper()
	var team int64
	must.NoError(t, d.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx,
			`INSERT INTO teams (name, timezone, content_language, plan, created_at)
		VALUES ('Harbour', ?, 'en', 'creator', 1) RETURNING id`, zone).Scan(&team)
	}))
	return team
}

func setCallZone(t failer, d *db.DB, team int64, zone string) {
	t.Helper()
	must.NoError(t, d.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE teams SET timezone = ? WHERE id = ?`, zone, team)
		return err
	}))
}

// node is one more process on the same database, with a clock of its own where it is given one.
func (w callDay) node(t *testing.T, clock *testkit.Clock) *Calls {
	t.Helper()
	if clock == nil {
		clock = w.clock
	}
	return NewCalls(testkit.Open(t, w.url, clock))
}

func (w callDay) actor(limit int64, zone string) *access.Actor {
	return callActor(w.team, limit, zone)
}

func callActor(team, limit int64, zone string) *access.Actor {
	loaded, err := time.LoadLocation(zone) // another pointer each time, as keys are read anew
	if err != nil {
		panic(err)
	}
	return &access.Actor{TeamID: team, Plan: "creator", Zone: loaded, Daily: access.Daily{FreeCalls: limit}}
}

func (w callDay) berlin(limit int64) *access.Actor { return w.actor(limit, "Europe/Berlin") }

// take takes one call; nil where it was refused.
func take(t failer, c *Calls, a *access.Actor) interface{ Return() } {
	t.Helper()
	call, ok, err := c.Take(context.Background(), a)
	must.NoError(t, err)
	if !ok {
		if call != nil {
			t.Fatalf("refused with a call: %v", call)
		}
		return nil
	}
	return call
}

// drain takes calls until one is refused and tells how many there were.
func drain(t failer, c *Calls, a *access.Actor) int64 {
	t.Helper()
	n := int64(0)
	for take(t, c, a) != nil {
		n++
	}
	return n
}

func wantLeft(t failer, c *Calls, a *access.Actor, want int64) {
	t.Helper()
	left, err := c.Left(context.Background(), a)
	if err != nil || left != want {
		t.Fatalf("%d calls are left, want %d (%v)", left, want, err)
	}
}

func (w callDay) used(t failer) int64 {
	t.Helper()
	d, _, err := read(context.Background(), w.db, w.team, "")
	must.NoError(t, err)
	return d.used
}

func TestFreeCallsEndAtTheLimit(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, actor := NewCalls(w.db), w.berlin(250)
		wantLeft(t, c, actor, 250)
		for n := range int64(250) {
			if take(t, c, actor) == nil {
				t.Fatalf("call %d was refused", n+1)
			}
			wantLeft(t, c, actor, 249-n)
		}
		if take(t, c, actor) != nil {
			t.Error("one call too many")
		}
	})
}

func TestFreeCallsWithoutALimitAskNobody(t *testing.T) {
	t.Parallel()
	d := testkit.Open(t, testkit.SQLite(t), nil)
	c := NewCalls(d)
	_ = d.Close()
	unlimited, none := callActor(1, -1, "UTC"), callActor(1, 0, "UTC")
	call := take(t, c, unlimited)
	if call == nil {
		t.Fatal("refused")
	}
	call.Return()
	wantLeft(t, c, unlimited, -1)
	if take(t, c, none) != nil {
		t.Error("let through")
	}
	wantLeft(t, c, none, 0)
	if c.known.Load() != 0 {
		t.Error("something is remembered")
	}
}

// Within a lease, and for a moment after the last call, the database is not asked.
func TestLeasesAreTakenFromMemory(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		for limit, leased := range map[int64]int{1000: 10, 1: 1, 150: 1, 500_000: 1000} {
			d := testkit.Open(t, w.url, w.clock)
			c, actor := NewCalls(d), callActor(addCallTeam(t, d, "Europe/Berlin"), limit, "Europe/Berlin")
			if take(t, c, actor) == nil {
				t.Fatal("refused")
			}
			if limit == 1 && take(t, c, actor) != nil {
				t.Fatal("one too many")
			}
			_ = d.Close()
			for range leased - 1 {
				if take(t, c, actor) == nil {
					t.Fatal("refused")
				}
			}
			_, ok, err := c.Take(t.Context(), actor)
			if ok || (err == nil) != (limit == 1) {
				t.Errorf("limit %d: after the lease: %v, %v", limit, ok, err)
			}
		}
	})
}

// Callers that wait for a lease share the one that is fetched.
func TestOneLeaseServesAllWhoWait(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c := NewCalls(w.db)
		var clients sync.WaitGroup
		for range 10 {
			clients.Go(func() { take(t, c, w.berlin(1000)) })
		}
		clients.Wait()
		if used := w.used(t); used != 10 {
			t.Errorf("%d are used", used)
		}
	})
}

func TestReturn(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, actor := NewCalls(w.db), w.berlin(30)
		first, second := take(t, c, actor), take(t, c, actor) // of two leases, as a lease here is one call
		for range 2 {
			first.Return()
		}
		wantLeft(t, c, actor, 29)
		if n := drain(t, c, actor); n != 29 {
			t.Errorf("%d more, want 29", n)
		}
		second.Return() // there is room again at once, although nothing was left a moment ago
		if n := drain(t, c, actor); n != 1 {
			t.Errorf("%d more, want 1", n)
		}

		call := take(t, c, w.berlin(31))
		if take(t, c, w.berlin(10)) != nil {
			t.Fatal("let through past a lowered limit")
		}
		call.Return()
		if take(t, c, w.berlin(10)) != nil {
			t.Error("a call that came back was let through past a lowered limit")
		}
	})
}

// A call that is counted afterwards is one of those that the node holds: the day's calls are not more for it.
func TestCountFreeUsesTheLease(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, actor := NewCalls(w.db), w.berlin(3)
		for range 2 {
			if take(t, c, actor) == nil {
				t.Fatal("refused within the allowance")
			}
		}
		paid := take(t, c, actor) // taken before it is known that the call is paid for
		paid.Return()
		must.NoError(t, w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error { return c.CountFree(ctx, tx, w.team) }))
		wantLeft(t, c, actor, 0)
		if take(t, c, actor) != nil {
			t.Error("a fourth call of three was let through")
		}
	})
}

func TestCountFree(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, actor := NewCalls(w.db), w.berlin(30)
		count := func(fail error) error {
			return w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				return errors.Join(c.CountFree(ctx, tx, w.team), fail)
			})
		}
		must.NoError(t, count(nil))
		wantLeft(t, c, actor, 29)
		stop := errors.New("stop")
		if err := count(stop); !errors.Is(err, stop) {
			t.Fatal(err)
		}
		wantLeft(t, c, actor, 29)
		if n := drain(t, c, actor); n != 29 {
			t.Errorf("%d were let through", n)
		}
		if err := count(nil); err != nil { // past the limit
			t.Fatal(err)
		}
		if used := w.used(t); used != 31 {
			t.Errorf("%d are used", used)
		}
		wantLeft(t, c, actor, 0)

		w.clock.Advance(untilMidnight)
		must.NoError(t, count(nil))
		wantLeft(t, c, actor, 29)
		setCallZone(t, w.db, w.team, "Asia/Tokyo") // the day goes on there
		must.NoError(t, count(nil))
		wantLeft(t, c, w.actor(30, "Asia/Tokyo"), 28)

		setCallZone(t, w.db, w.team, "Mars/Olympus")
		if err := count(nil); err == nil {
			t.Error("counted in a zone that there is not")
		}
		w.team++
		if err := count(nil); err == nil {
			t.Error("counted for a team that there is not")
		}
	})
}

// That nothing is left is remembered for a second, then looked up without writing.
func TestRefusalsWriteNothing(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, other, actor := NewCalls(w.db), w.node(t, nil), w.berlin(100)
		call := take(t, other, actor)
		if n := drain(t, c, actor); n != 99 {
			t.Fatalf("%d were let through", n)
		}
		locked, unlock, done := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			done <- other.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := other.locked(ctx, tx, w.team)
				close(locked)
				<-unlock
				return err
			})
		}()
		<-locked
		for range 3 {
			w.clock.Advance(2 * time.Second)
			if take(t, c, actor) != nil {
				t.Error("let through")
			}
		}
		close(unlock)
		must.NoError(t, <-done)

		call.Return()
		must.NoError(t, other.Close(t.Context()))
		if take(t, c, actor) != nil {
			t.Error("the database was asked at once")
		}
		w.clock.Advance(time.Second)
		if n := drain(t, c, actor); n != 1 {
			t.Errorf("%d were let through after another node gave one back", n)
		}
	})
}

// Who waits for another's lease waits no longer than it wants to, and nobody waits for a caller that has gone.
func TestWaitingForALeaseEnds(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, other, actor := NewCalls(w.db), w.node(t, nil), w.berlin(100)
		earlier := take(t, c, actor)
		locked, unlock := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = other.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := other.locked(ctx, tx, w.team)
				close(locked)
				<-unlock
				return err
			})
		})
		<-locked
		first, hangUp := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, ok, err := c.Take(first, actor); !ok || err != nil {
				t.Errorf("the caller that fetches: %v, %v", ok, err)
			}
		})
		for p := c.purse(w.team); len(p.turn) == 0; {
			runtime.Gosched()
		}
		hangUp()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := c.Take(gone, actor); !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that waits: %v", err)
		}
		if _, err := c.Left(gone, actor); !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that asks: %v", err)
		}
		earlier.Return() // into the lease that is being replaced
		close(unlock)
		wg.Wait()
		wantLeft(t, c, actor, 99)
	})
}

func TestATeamThatIsNotThere(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		w.team++
		if _, ok, err := NewCalls(w.db).Take(t.Context(), w.berlin(100)); ok || err == nil {
			t.Errorf("%v, %v", ok, err)
		}
	})
}

func TestLeaseSize(t *testing.T) {
	t.Parallel()
	for left, want := range map[int64]int64{-5: 0, 0: 0, 1: 1, 99: 1, 199: 1, 200: 2, 1000: 10, 99_999: 999, 100_000: 1000, 1 << 40: 1000} {
		if got := leaseSize(left); got != want {
			t.Errorf("of %d: %d, want %d", left, got, want)
		}
	}
}
