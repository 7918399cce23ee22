package ratelimit

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/testkit"
)

// TestAllowanceResetsAtMidnight checks the reset on days of different lengths.
func TestAllowanceResetsAtMidnight(t *testing.T) {
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
			begins, ends := teamtime.Day(c.at, actor.Zone)
			if ends.Sub(begins) != c.length {
				t.Fatalf("%s: the day has %v", c.zone, ends.Sub(begins))
			}
			w.clock.Advance(begins.Sub(w.clock.Now()))
			calls := NewFreeCalls(w.db)
			for _, at := range []time.Time{begins, begins.Add(c.length / 2), ends.Add(-time.Microsecond), ends} {
				w.clock.Advance(at.Sub(w.clock.Now()))
				if got := drain(t, calls, actor) > 0; got != (at.Equal(begins) || at.Equal(ends)) {
					t.Errorf("%s at %v: allowed: %v", c.zone, at, got)
				}
			}
		}
	})
}

func TestLeasesAndCallsExpireAtMidnight(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, actor := NewFreeCalls(w.db), w.berlin(1000)
		before := take(t, c, actor)
		w.clock.Advance(untilMidnight)
		wantLeft(t, c, actor, 1000)
		take(t, c, actor)
		before.Return()
		wantLeft(t, c, actor, 999)
		if n := drain(t, c, actor); n != 999 {
			t.Errorf("%d more calls were allowed", n)
		}
	})
}

func TestZoneChangeAllowance(t *testing.T) {
	t.Parallel()
	const limit = 30
	type step struct {
		clock   string // UTC, day and hour
		zone    string
		through int64
	}
	for name, steps := range map[string][]step{
		"there and back": {
			{"21 12", "Europe/Berlin", limit}, {"21 12", "Asia/Tokyo", 0}, {"21 12", "Europe/Berlin", 0},
			{"21 22", "Europe/Berlin", 0}, {"21 23", "Europe/Berlin", limit},
		},
		"to a later midnight": {
			{"21 12", "Europe/Berlin", limit}, {"21 13", "America/New_York", 0}, {"21 23", "America/New_York", 0},
			{"22 05", "America/New_York", limit},
		},
		"to an earlier midnight": {
			{"21 02", "Europe/Berlin", limit}, {"21 03", "Asia/Tokyo", 0}, {"21 14", "Asia/Tokyo", 0},
			{"21 15", "Asia/Tokyo", limit}, {"21 23", "Asia/Tokyo", 0}, {"22 15", "Asia/Tokyo", limit},
		},
		"back after the other zone's midnight": {
			{"21 02", "Europe/Berlin", limit}, {"21 03", "Asia/Tokyo", 0}, {"21 16", "Europe/Berlin", 0}, {"21 23", "Europe/Berlin", limit},
		},
		"back after the other zone's new day": {
			{"21 02", "Europe/Berlin", limit}, {"21 03", "Asia/Tokyo", 0}, {"21 15", "Asia/Tokyo", limit},
			{"21 16", "Europe/Berlin", 0}, {"21 23", "Europe/Berlin", limit},
		},
		"no calls until after the other zone's midnight": {
			{"21 02", "Europe/Berlin", limit}, {"21 16", "Asia/Tokyo", 0}, {"22 14", "Asia/Tokyo", 0}, {"22 15", "Asia/Tokyo", limit},
		},
		"at midnight itself, to a longer day": {
			{"21 12", "Europe/Berlin", limit}, {"21 23", "America/New_York", 0}, {"22 05", "America/New_York", limit},
		},
		"across the date line": {
			{"21 12", "Pacific/Kiritimati", limit}, {"21 12", "Pacific/Pago_Pago", 0},
			{"22 10", "Pacific/Pago_Pago", 0}, {"22 11", "Pacific/Pago_Pago", limit}, {"22 11", "Pacific/Kiritimati", 0},
		},
		"another zone days later": {{"21 12", "Europe/Berlin", limit}, {"25 12", "Asia/Tokyo", limit}},
	} {
		t.Run(name, func(t *testing.T) {
			eachCallDay(t, func(t *testing.T, w callDay) {
				nodes := []*FreeCalls{w.node(t, nil), w.node(t, nil)}
				for n, s := range steps {
					at, err := time.Parse("2006-01 02 15", "2026-11 "+s.clock)
					if err != nil {
						t.Fatal(err)
					}
					w.clock.Advance(at.Sub(w.clock.Now()) + time.Duration(n)*time.Second) // after exhaustedTTL
					if got := drain(t, nodes[0], w.actor(limit, s.zone)) + drain(t, nodes[1], w.actor(limit, s.zone)); got != s.through {
						t.Errorf("step %d: %d were let through, want %d", n+1, got, s.through)
					}
					wantLeft(t, nodes[0], w.actor(limit, s.zone), 0)
				}
			})
		})
	}
}

func TestDayEndsAtNewMidnight(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c := NewFreeCalls(w.db)
		take(t, c, w.berlin(1000))
		w.clock.Advance(time.Hour)
		take(t, c, w.actor(1000, "Asia/Dhaka")) // 19:00 there
		wantLeft(t, c, w.actor(1000, "Asia/Dhaka"), 998)
		w.clock.Advance(5 * time.Hour)
		wantLeft(t, c, w.actor(1000, "Asia/Dhaka"), 1000)
		if n := drain(t, c, w.actor(1000, "Asia/Dhaka")); n != 1000 {
			t.Errorf("%d calls were allowed", n)
		}
	})
}

func TestLeasesSurviveZoneChange(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		nodes := []*FreeCalls{w.node(t, nil), w.node(t, nil)}
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
		if used := w.usedCalls(t); used != 6 {
			t.Errorf("%d calls are used", used)
		}
	})
}

// TestSlowClock checks that a node whose clock is behind uses the day that began on another node, and never the
// previous day.
func TestSlowClock(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		w.clock.Advance(untilMidnight)
		slow := testkit.NewClock(w.clock.Now().Add(-time.Minute))
		c, behind, actor := NewFreeCalls(w.db), w.node(t, slow), w.berlin(100)
		if n := drain(t, behind, actor); n != 100 {
			t.Fatalf("%d calls of yesterday were allowed", n)
		}
		if n := drain(t, c, actor); n != 100 {
			t.Fatalf("%d calls of today were allowed", n)
		}
		for range 3 {
			slow.Advance(30 * time.Second) // to and past its midnight
			wantLeft(t, behind, actor, 0)
			if n := drain(t, behind, actor); n != 0 {
				t.Errorf("%d more calls were allowed", n)
			}
		}
		if used := w.usedCalls(t); used != 100 {
			t.Errorf("%d calls are used", used)
		}
	})
}

func TestLimitChangeDuringDay(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c := NewFreeCalls(w.db)
		for range 200 {
			take(t, c, w.berlin(1000))
		}
		for _, s := range []struct{ limit, through, left int64 }{
			{200, 0, 0}, {100, 0, 0}, {205, 5, 0}, {0, 0, 0}, {-1, 1, -1}, {1205, 1000, 0}, {1205, 0, 0},
		} {
			wantThrough := s.through
			if s.limit == -1 {
				if take(t, c, w.berlin(-1)) == nil {
					t.Error("a call without a limit was rejected")
				}
			} else if n := drain(t, c, w.berlin(s.limit)); n != wantThrough {
				t.Errorf("limit %d: %d were let through, want %d", s.limit, n, wantThrough)
			}
			wantLeft(t, c, w.berlin(s.limit), s.left)
		}
	})
}
