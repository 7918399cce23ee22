package ratelimit

import (
	"context"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
)

// callDay is a database, its clock, and a team in Berlin on the 21st of November, UTC+1.
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

type fatalReporter interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func addCallTeam(t fatalReporter, d *db.DB, zone string) int64 {
	t.Helper()
	var team int64
	err := d.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx,
			`INSERT INTO teams (name, timezone, content_language, plan, created_at)
		VALUES ('Harbour', ?, 'en', 'creator', 1) RETURNING id`, zone).Scan(&team)
	})
	if err != nil {
		t.Fatal(err)
	}
	return team
}

func setCallZone(t fatalReporter, d *db.DB, team int64, zone string) {
	t.Helper()
	err := d.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE teams SET timezone = ? WHERE id = ?`, zone, team)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// node returns another node on the same database. It has its own clock if clock is not nil.
func (w callDay) node(t *testing.T, clock *testkit.Clock) *FreeCalls {
	t.Helper()
	if clock == nil {
		clock = w.clock
	}
	return NewFreeCalls(testkit.Open(t, w.url, clock))
}

func (w callDay) actor(limit int64, zone string) *access.Actor {
	return callActor(w.team, limit, zone)
}

func callActor(team, limit int64, zone string) *access.Actor {
	loaded, err := time.LoadLocation(zone) // another pointer each time
	if err != nil {
		panic(err)
	}
	return &access.Actor{TeamID: team, Plan: "creator", Zone: loaded, Daily: access.Daily{FreeCalls: limit}}
}

func (w callDay) berlin(limit int64) *access.Actor { return w.actor(limit, "Europe/Berlin") }

// take takes one call, or returns nil if it is rejected.
func take(t fatalReporter, c *FreeCalls, a *access.Actor) interface{ Return() } {
	t.Helper()
	call, ok, err := c.Take(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		if call != nil {
			t.Fatalf("a rejected call was returned: %v", call)
		}
		return nil
	}
	return call
}

// drain takes calls until one is rejected, and returns their number.
func drain(t fatalReporter, c *FreeCalls, a *access.Actor) int64 {
	t.Helper()
	n := int64(0)
	for take(t, c, a) != nil {
		n++
	}
	return n
}

func wantLeft(t fatalReporter, c *FreeCalls, a *access.Actor, want int64) {
	t.Helper()
	left, err := c.Remaining(context.Background(), a)
	if err != nil || left != want {
		t.Fatalf("%d calls remain, want %d (%v)", left, want, err)
	}
}

func (w callDay) usedCalls(t fatalReporter) int64 {
	t.Helper()
	d, _, err := readDay(context.Background(), w.db, w.team, "")
	if err != nil {
		t.Fatal(err)
	}
	return d.used
}
