package ratelimit

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
)

func TestFreeCallsEndAtTheLimit(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, actor := NewFreeCalls(w.db), w.berlin(250)
		wantLeft(t, c, actor, 250)
		for n := range int64(250) {
			if take(t, c, actor) == nil {
				t.Fatalf("call %d was rejected", n+1)
			}
			wantLeft(t, c, actor, 249-n)
		}
		if take(t, c, actor) != nil {
			t.Error("a call beyond the limit was allowed")
		}
	})
}

func TestUnlimitedFreeCalls(t *testing.T) {
	t.Parallel()
	d := testkit.Open(t, testkit.SQLite(t), nil)
	c := NewFreeCalls(d)
	_ = d.Close()
	unlimited, none := callActor(1, -1, "UTC"), callActor(1, 0, "UTC")
	call := take(t, c, unlimited)
	if call == nil {
		t.Fatal("rejected")
	}
	call.Return()
	wantLeft(t, c, unlimited, -1)
	if take(t, c, none) != nil {
		t.Error("allowed")
	}
	wantLeft(t, c, none, 0)
	if c.leaseCount.Load() != 0 {
		t.Error("state is kept for an unlimited team")
	}
}

// TestLeasesFromMemory checks that a lease and, for a short time, its exhaustion need no database.
func TestLeasesFromMemory(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		for limit, leased := range map[int64]int{1000: 10, 1: 1, 150: 1, 500_000: 1000} {
			d := testkit.Open(t, w.url, w.clock)
			c, actor := NewFreeCalls(d), callActor(addCallTeam(t, d, "Europe/Berlin"), limit, "Europe/Berlin")
			if take(t, c, actor) == nil {
				t.Fatal("rejected")
			}
			if limit == 1 && take(t, c, actor) != nil {
				t.Fatal("a call beyond the limit was allowed")
			}
			_ = d.Close()
			for range leased - 1 {
				if take(t, c, actor) == nil {
					t.Fatal("rejected")
				}
			}
			_, ok, err := c.Take(t.Context(), actor)
			if ok || (err == nil) != (limit == 1) {
				t.Errorf("limit %d: after the lease: %v, %v", limit, ok, err)
			}
		}
	})
}

func TestConcurrentCallsShareALease(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c := NewFreeCalls(w.db)
		var clients sync.WaitGroup
		for range 10 {
			clients.Go(func() { take(t, c, w.berlin(1000)) })
		}
		clients.Wait()
		if used := w.usedCalls(t); used != 10 {
			t.Errorf("%d calls are used", used)
		}
	})
}

func TestReturnCall(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, actor := NewFreeCalls(w.db), w.berlin(30)
		first, second := take(t, c, actor), take(t, c, actor) // of two leases of one call
		for range 2 {
			first.Return()
		}
		wantLeft(t, c, actor, 29)
		if n := drain(t, c, actor); n != 29 {
			t.Errorf("%d more, want 29", n)
		}
		second.Return() // available at once
		if n := drain(t, c, actor); n != 1 {
			t.Errorf("%d more, want 1", n)
		}

		call := take(t, c, w.berlin(31))
		if take(t, c, w.berlin(10)) != nil {
			t.Fatal("a call beyond the lowered limit was allowed")
		}
		call.Return()
		if take(t, c, w.berlin(10)) != nil {
			t.Error("a returned call was allowed beyond the lowered limit")
		}
	})
}

func TestCountFreeUsesTheLease(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, actor := NewFreeCalls(w.db), w.berlin(3)
		for range 2 {
			if take(t, c, actor) == nil {
				t.Fatal("rejected within the allowance")
			}
		}
		paid := take(t, c, actor) // before it is paid for
		paid.Return()
		err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			return c.CountRefunded(ctx,
				tx, w.team)
		})
		if err != nil {
			t.Fatal(err)
		}
		wantLeft(t, c, actor, 0)
		if take(t, c, actor) != nil {
			t.Error("a fourth call was allowed with limit 3")
		}
	})
}

func TestCountFree(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, actor := NewFreeCalls(w.db), w.berlin(30)
		count := func(fail error) error {
			return w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				return errors.Join(c.CountRefunded(ctx, tx, w.team), fail)
			})
		}
		if err := count(nil); err != nil {
			t.Fatal(err)
		}
		wantLeft(t, c, actor, 29)
		stop := errors.New("stop")
		if err := count(stop); !errors.Is(err, stop) {
			t.Fatal(err)
		}
		wantLeft(t, c, actor, 29)
		if n := drain(t, c, actor); n != 29 {
			t.Errorf("%d calls were allowed", n)
		}
		if err := count(nil); err != nil { // over the limit
			t.Fatal(err)
		}
		if used := w.usedCalls(t); used != 31 {
			t.Errorf("%d calls are used", used)
		}
		wantLeft(t, c, actor, 0)

		w.clock.Advance(untilMidnight)
		if err := count(nil); err != nil {
			t.Fatal(err)
		}
		wantLeft(t, c, actor, 29)
		setCallZone(t, w.db, w.team, "Asia/Tokyo") // where the day continues
		if err := count(nil); err != nil {
			t.Fatal(err)
		}
		wantLeft(t, c, w.actor(30, "Asia/Tokyo"), 28)

		setCallZone(t, w.db, w.team, "Mars/Olympus")
		if err := count(nil); err == nil {
			t.Error("a call was counted in an unknown zone")
		}
		w.team++
		if err := count(nil); err == nil {
			t.Error("a call was counted for an unknown team")
		}
	})
}

// TestRejectionsWriteNothing checks that an empty allowance is cached for a second, and then read without writing.
func TestRejectionsWriteNothing(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, other, actor := NewFreeCalls(w.db), w.node(t, nil), w.berlin(100)
		call := take(t, other, actor)
		if n := drain(t, c, actor); n != 99 {
			t.Fatalf("%d calls were allowed", n)
		}
		locked, unlock, done := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			done <- other.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := other.lockDay(ctx, tx, w.team)
				close(locked)
				<-unlock
				return err
			})
		}()
		<-locked
		for range 3 {
			w.clock.Advance(2 * time.Second)
			if take(t, c, actor) != nil {
				t.Error("allowed")
			}
		}
		close(unlock)
		if err := <-done; err != nil {
			t.Fatal(err)
		}

		call.Return()
		if err := other.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if take(t, c, actor) != nil {
			t.Error("the database was read within a second")
		}
		w.clock.Advance(time.Second)
		if n := drain(t, c, actor); n != 1 {
			t.Errorf("%d calls were allowed after another node returned one", n)
		}
	})
}

// TestWaitForLeaseCanceled checks that waiting calls can be canceled, and that they do not depend on the canceled
// caller.
func TestWaitForLeaseCanceled(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, other, actor := NewFreeCalls(w.db), w.node(t, nil), w.berlin(100)
		earlier := take(t, c, actor)
		locked, unlock := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = other.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := other.lockDay(ctx, tx, w.team)
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
		for p := c.teamLeaseFor(w.team); len(p.lock) == 0; {
			runtime.Gosched()
		}
		hangUp()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := c.Take(gone, actor); !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that waits: %v", err)
		}
		if _, err := c.Remaining(gone, actor); !errors.Is(err, context.Canceled) {
			t.Errorf("the calling request: %v", err)
		}
		earlier.Return() // into the lease that is being replaced
		close(unlock)
		wg.Wait()
		wantLeft(t, c, actor, 99)
	})
}

func TestUnknownTeam(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		w.team++
		if _, ok, err := NewFreeCalls(w.db).Take(t.Context(), w.berlin(100)); ok || err == nil {
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
