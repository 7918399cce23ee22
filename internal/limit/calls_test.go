package limit

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom/internal/access"
	"pressroom/internal/db"
	"pressroom/internal/moment"
	"pressroom/internal/testkit"
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
	err := d.Write(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx, `INSERT INTO teams (name, timezone, content_language, plan, created_at) VALUES ('Harbour', ?, 'en', 'creator', 1) RETURNING id`, zone).Scan(&team)
	})
	if err != nil {
		t.Fatal(err)
	}
	return team
}

func setCallZone(t failer, d *db.DB, team int64, zone string) {
	t.Helper()
	err := d.Write(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE teams SET timezone = ? WHERE id = ?`, zone, team)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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

// Four nodes let through what one may, and hardly less, however the clients are spread.
func TestFreeCallsOfFourNodes(t *testing.T) {
	t.Parallel()
	const limit = 1000
	for name, next := range map[string]func(client int) int{
		"clients keep to a node": func(client int) int { return client },
		"clients wander":         func(int) int { return rand.Int() },
	} {
		t.Run(name, func(t *testing.T) {
			eachCallDay(t, func(t *testing.T, w callDay) {
				n := w.crowd(t, limit, next)
				t.Logf("%d of %d were let through", n, limit)
				if n > limit || n < limit-limit/100 {
					t.Errorf("%d of %d were let through", n, limit)
				}
			})
		})
	}
}

// crowd lets 64 clients call four nodes until each is refused once, and tells how many calls were let through.
func (w callDay) crowd(t *testing.T, limit int64, next func(client int) int) int64 {
	t.Helper()
	nodes := []*Calls{w.node(t, nil), w.node(t, nil), w.node(t, nil), w.node(t, nil)}
	var through atomic.Int64
	var clients sync.WaitGroup
	for client := range 64 {
		clients.Go(func() {
			for {
				_, ok, err := nodes[next(client)%len(nodes)].Take(t.Context(), w.berlin(limit))
				if err != nil {
					t.Error(err)
				}
				if !ok {
					return
				}
				through.Add(1)
			}
		})
	}
	clients.Wait()
	return through.Load()
}

func TestADeadNodeLosesOneLease(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		for limit, lost := range map[int64]int64{1000: 10, 100: 1, 3: 1, 100_000: 1000} {
			w.team = addCallTeam(t, w.db, "Europe/Berlin")
			dead, living := w.node(t, nil), w.node(t, nil)
			if take(t, dead, w.berlin(limit)) == nil {
				t.Fatal("refused")
			}
			if n := drain(t, living, w.berlin(limit)); n != limit-lost {
				t.Errorf("limit %d: the living node let %d through", limit, n)
			}
		}
	})
}

func TestCloseGivesLeasesBack(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		ending, other := w.node(t, nil), w.node(t, nil)
		late := w.team
		teams := []int64{late}
		for range 3 {
			teams = append(teams, addCallTeam(t, w.db, "Europe/Berlin"))
		}
		for _, team := range teams {
			take(t, ending, callActor(team, 1000, "Europe/Berlin"))
			wantLeft(t, other, callActor(team, 1000, "Europe/Berlin"), 990)
		}
		for range 2 { // the second time there is nothing
			if err := ending.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, team := range teams {
			wantLeft(t, other, callActor(team, 1000, "Europe/Berlin"), 999)
			wantLeft(t, ending, callActor(team, 1000, "Europe/Berlin"), 999)
		}

		take(t, ending, w.berlin(1000))
		w.clock.Advance(untilMidnight)
		take(t, other, w.berlin(1000))
		if err := ending.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if used := w.used(t); used != 10 {
			t.Errorf("%d are used of the new day", used)
		}
	})
}

func TestCloseTellsWhatFailed(t *testing.T) {
	t.Parallel()
	d := testkit.Open(t, testkit.SQLite(t), nil)
	c := NewCalls(d)
	take(t, c, callActor(addCallTeam(t, d, "UTC"), 1000, "UTC"))
	_ = d.Close()
	if err := c.Close(t.Context()); err == nil {
		t.Error("no error")
	}
}

// The allowance is whole again at the team's midnight and not before, on days of every length.
func TestFreeCallsBeginAnewAtMidnight(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		for _, c := range []struct {
			zone   string
			at     time.Time
			length time.Duration
		}{
			{"Europe/Berlin", time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC), 23 * time.Hour},
			{"Europe/Berlin", time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC), 25 * time.Hour},
			{"Europe/Berlin", time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), 24 * time.Hour},
			{"Africa/Cairo", time.Date(2026, 4, 24, 9, 0, 0, 0, time.UTC), 23 * time.Hour},   // midnight is skipped
			{"America/Havana", time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC), 25 * time.Hour}, // midnight comes twice
			{"Australia/Lord_Howe", time.Date(2026, 4, 5, 1, 0, 0, 0, time.UTC), 24*time.Hour + 30*time.Minute},
		} {
			actor := callActor(addCallTeam(t, w.db, c.zone), 40, c.zone)
			begins, ends := moment.Day(c.at, actor.Zone)
			if ends.Sub(begins) != c.length {
				t.Fatalf("%s: the day has %v", c.zone, ends.Sub(begins))
			}
			w.clock.Advance(begins.Sub(w.clock.Now()))
			calls := NewCalls(w.db)
			for _, at := range []time.Time{begins, begins.Add(c.length / 2), ends.Add(-time.Microsecond), ends} {
				w.clock.Advance(at.Sub(w.clock.Now()))
				if got := drain(t, calls, actor) > 0; got != (at.Equal(begins) || at.Equal(ends)) {
					t.Errorf("%s at %v: let through: %v", c.zone, at, got)
				}
			}
		}
	})
}

// A lease and a call of yesterday are worth nothing today.
func TestNothingIsCarriedOverMidnight(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, actor := NewCalls(w.db), w.berlin(1000)
		before := take(t, c, actor)
		w.clock.Advance(untilMidnight)
		wantLeft(t, c, actor, 1000)
		take(t, c, actor)
		before.Return()
		wantLeft(t, c, actor, 999)
		if n := drain(t, c, actor); n != 999 {
			t.Errorf("%d more", n)
		}
	})
}

// Each step sets clock and zone; what is let through then is what the step says.
func TestAChangeOfZoneGivesNoSecondAllowance(t *testing.T) {
	t.Parallel()
	const limit = 30
	type step struct {
		clock   string // UTC, day and hour
		zone    string
		through int64
	}
	for name, steps := range map[string][]step{
		"forth and back":                         {{"21 12", "Europe/Berlin", limit}, {"21 12", "Asia/Tokyo", 0}, {"21 12", "Europe/Berlin", 0}, {"21 22", "Europe/Berlin", 0}, {"21 23", "Europe/Berlin", limit}},
		"to a later midnight":                    {{"21 12", "Europe/Berlin", limit}, {"21 13", "America/New_York", 0}, {"21 23", "America/New_York", 0}, {"22 05", "America/New_York", limit}},
		"to an earlier midnight":                 {{"21 02", "Europe/Berlin", limit}, {"21 03", "Asia/Tokyo", 0}, {"21 14", "Asia/Tokyo", 0}, {"21 15", "Asia/Tokyo", limit}, {"21 23", "Asia/Tokyo", 0}, {"22 15", "Asia/Tokyo", limit}},
		"back after the other zone's midnight":   {{"21 02", "Europe/Berlin", limit}, {"21 03", "Asia/Tokyo", 0}, {"21 16", "Europe/Berlin", 0}, {"21 23", "Europe/Berlin", limit}},
		"back after the other zone's new day":    {{"21 02", "Europe/Berlin", limit}, {"21 03", "Asia/Tokyo", 0}, {"21 15", "Asia/Tokyo", limit}, {"21 16", "Europe/Berlin", 0}, {"21 23", "Europe/Berlin", limit}},
		"unseen past the other zone's midnight":  {{"21 02", "Europe/Berlin", limit}, {"21 16", "Asia/Tokyo", 0}, {"22 14", "Asia/Tokyo", 0}, {"22 15", "Asia/Tokyo", limit}},
		"at midnight itself, to a longer day":    {{"21 12", "Europe/Berlin", limit}, {"21 23", "America/New_York", 0}, {"22 05", "America/New_York", limit}},
		"over the date line":                     {{"21 12", "Pacific/Kiritimati", limit}, {"21 12", "Pacific/Pago_Pago", 0}, {"22 10", "Pacific/Pago_Pago", 0}, {"22 11", "Pacific/Pago_Pago", limit}, {"22 11", "Pacific/Kiritimati", 0}},
		"days later, in another zone altogether": {{"21 12", "Europe/Berlin", limit}, {"25 12", "Asia/Tokyo", limit}},
	} {
		t.Run(name, func(t *testing.T) {
			eachCallDay(t, func(t *testing.T, w callDay) {
				nodes := []*Calls{w.node(t, nil), w.node(t, nil)}
				for n, s := range steps {
					at, err := time.Parse("2006-01 02 15", "2026-11 "+s.clock)
					if err != nil {
						t.Fatal(err)
					}
					w.clock.Advance(at.Sub(w.clock.Now()) + time.Duration(n)*time.Second) // past what is remembered
					if got := drain(t, nodes[0], w.actor(limit, s.zone)) + drain(t, nodes[1], w.actor(limit, s.zone)); got != s.through {
						t.Errorf("step %d: %d were let through, want %d", n+1, got, s.through)
					}
					wantLeft(t, nodes[0], w.actor(limit, s.zone), 0)
				}
			})
		})
	}
}

// A day that goes on in another zone ends at that zone's midnight, whatever is left in a lease.
func TestTheDayEndsAtTheNewZonesMidnight(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c := NewCalls(w.db)
		take(t, c, w.berlin(1000))
		w.clock.Advance(time.Hour)
		take(t, c, w.actor(1000, "Asia/Dhaka")) // it is 19:00 there
		wantLeft(t, c, w.actor(1000, "Asia/Dhaka"), 998)
		w.clock.Advance(5 * time.Hour)
		wantLeft(t, c, w.actor(1000, "Asia/Dhaka"), 1000)
		if n := drain(t, c, w.actor(1000, "Asia/Dhaka")); n != 1000 {
			t.Errorf("%d were let through", n)
		}
	})
}

// What a node holds in a lease is not lost when the zone changes.
func TestLeasesSurviveAChangeOfZone(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		nodes := []*Calls{w.node(t, nil), w.node(t, nil)}
		for _, zone := range []string{"Europe/Berlin", "Asia/Tokyo", "America/New_York"} {
			for _, c := range nodes {
				take(t, c, w.actor(1000, zone))
			}
		}
		for _, c := range nodes {
			if err := c.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if used := w.used(t); used != 6 {
			t.Errorf("%d are used", used)
		}
	})
}

func TestALimitChangesMidday(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c := NewCalls(w.db)
		for range 200 {
			take(t, c, w.berlin(1000))
		}
		for _, s := range []struct{ limit, through, left int64 }{{200, 0, 0}, {100, 0, 0}, {205, 5, 0}, {0, 0, 0}, {-1, 1, -1}, {1205, 1000, 0}, {1205, 0, 0}} {
			wantThrough := s.through
			if s.limit == -1 {
				if take(t, c, w.berlin(-1)) == nil {
					t.Error("unlimited, and refused")
				}
			} else if n := drain(t, c, w.berlin(s.limit)); n != wantThrough {
				t.Errorf("limit %d: %d were let through, want %d", s.limit, n, wantThrough)
			}
			wantLeft(t, c, w.berlin(s.limit), s.left)
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
		err := w.db.Write(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error { return c.CountFree(ctx, tx, w.team) })
		if err != nil {
			t.Fatal(err)
		}
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
			return w.db.Write(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				return errors.Join(c.CountFree(ctx, tx, w.team), fail)
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
		if err := count(nil); err != nil {
			t.Fatal(err)
		}
		wantLeft(t, c, actor, 29)
		setCallZone(t, w.db, w.team, "Asia/Tokyo") // the day goes on there
		if err := count(nil); err != nil {
			t.Fatal(err)
		}
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

// A node whose clock is behind draws on the day that has begun elsewhere, and never brings back the one before.
func TestAClockThatIsBehind(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		w.clock.Advance(untilMidnight)
		slow := testkit.NewClock(w.clock.Now().Add(-time.Minute))
		c, behind, actor := NewCalls(w.db), w.node(t, slow), w.berlin(100)
		if n := drain(t, behind, actor); n != 100 {
			t.Fatalf("%d of yesterday", n)
		}
		if n := drain(t, c, actor); n != 100 {
			t.Fatalf("%d of today", n)
		}
		for range 3 {
			slow.Advance(30 * time.Second) // to and past its midnight
			wantLeft(t, behind, actor, 0)
			if n := drain(t, behind, actor); n != 0 {
				t.Errorf("%d more", n)
			}
		}
		if used := w.used(t); used != 100 {
			t.Errorf("%d are used", used)
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
			done <- other.db.Write(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
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
		if err := <-done; err != nil {
			t.Fatal(err)
		}

		call.Return()
		if err := other.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
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
			_ = other.db.Write(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
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

func TestIdleTeamsAreForgotten(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, actor := NewCalls(w.db), w.berlin(1000)
		take(t, c, actor)
		holding := c.purse(w.team)
		for team := range int64(10 * sweepFrom) {
			c.purse(1_000_000 + team)
		}
		if n := c.known.Load(); n > sweepFrom+1 {
			t.Errorf("%d teams are remembered", n)
		}
		if c.purse(w.team) != holding {
			t.Error("a lease was dropped")
		}
		w.clock.Advance(untilMidnight)
		c.sweep()
		if _, ok := c.purses.Load(w.team); ok || c.known.Load() != 0 {
			t.Error("a lease of yesterday is remembered")
		}
		if take(t, c, actor) == nil || c.known.Load() != 1 {
			t.Error("the team is not known again")
		}
	})
}

// With many teams about, the sweeps come ever more seldom.
func TestSweepsAreSpread(t *testing.T) {
	t.Parallel()
	c := NewCalls(testkit.Open(t, testkit.SQLite(t), nil))
	for team := range int64(4 * sweepFrom) {
		c.purse(team).lease.until = math.MaxInt64
	}
	if known, next := c.known.Load(), c.sweepAt.Load(); known < 3*sweepFrom || next < known {
		t.Errorf("with %d teams the next sweep comes at %d", known, next)
	}
}

// A purse that was dropped while somebody waited for it takes no lease: nobody would find it.
func TestADroppedPurseIsNotUsed(t *testing.T) {
	t.Parallel()
	c := NewCalls(testkit.Open(t, testkit.SQLite(t), nil))
	p := c.purse(1)
	c.sweep()
	c.purses.Store(int64(1), p)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // the context's end and a free turn are met in no order
		if found, err := c.enter(ctx, 1); err == nil {
			t.Errorf("found %p", found)
		}
	}
	c.purses.Delete(int64(1))
	if found, err := c.enter(t.Context(), 1); err != nil || found == p {
		t.Errorf("found %p (%v)", found, err)
	}
}

// However sweeping, ending days and calls meet, no day lets more through than it may, nor less.
func TestSweepingBesideCalls(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		const limit, days = 200, 3
		c, actor := NewCalls(w.db), w.berlin(limit)
		for range days {
			var through atomic.Int64
			var clients sync.WaitGroup
			for range 8 {
				clients.Go(func() {
					for take(t, c, actor) != nil {
						through.Add(1)
						c.sweep()
					}
				})
			}
			clients.Wait()
			if n := through.Load(); n != limit {
				t.Errorf("%d were let through", n)
			}
			w.clock.Advance(24 * time.Hour)
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
