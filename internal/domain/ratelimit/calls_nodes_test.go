package ratelimit

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit"
)

func TestFreeCallsOfFourNodes(t *testing.T) {
	t.Parallel()
	const limit = 1000
	for name, next := range map[string]func(client int) int{
		"each client uses one node": func(client int) int { return client },
		"clients use random nodes":  func(int) int { return rand.Int() },
	} {
		t.Run(name, func(t *testing.T) {
			eachCallDay(t, func(t *testing.T, w callDay) {
				n := w.allowOnFourNodes(t, limit, next)
				t.Logf("%d of %d calls were allowed", n, limit)
				if n > limit || n < limit-limit/100 {
					t.Errorf("%d of %d calls were allowed", n, limit)
				}
			})
		})
	}
}

// allowOnFourNodes returns how many calls of 64 clients four nodes allow until each client is rejected.
func (w callDay) allowOnFourNodes(t *testing.T, limit int64, next func(client int) int) int64 {
	t.Helper()
	nodes := []*FreeCalls{w.node(t, nil), w.node(t, nil), w.node(t, nil), w.node(t, nil)}
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

func TestDeadNodeLease(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		for limit, lost := range map[int64]int64{1000: 10, 100: 1, 3: 1, 100_000: 1000} {
			w.team = addCallTeam(t, w.db, "Europe/Berlin")
			dead, living := w.node(t, nil), w.node(t, nil)
			if take(t, dead, w.berlin(limit)) == nil {
				t.Fatal("rejected")
			}
			if n := drain(t, living, w.berlin(limit)); n != limit-lost {
				t.Errorf("limit %d: the other node allowed %d calls", limit, n)
			}
		}
	})
}

func TestCloseReturnsLeases(t *testing.T) {
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
		for range 2 { // the second time does nothing
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
		if used := w.usedCalls(t); used != 10 {
			t.Errorf("%d calls of the new day are used", used)
		}
	})
}

func TestCloseReturnsErrors(t *testing.T) {
	t.Parallel()
	d := testkit.Open(t, testkit.SQLite(t), nil)
	c := NewFreeCalls(d)
	take(t, c, callActor(addCallTeam(t, d, "UTC"), 1000, "UTC"))
	_ = d.Close()
	if err := c.Close(t.Context()); err == nil {
		t.Error("no error")
	}
}

func TestIdleTeamsForgotten(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		c, actor := NewFreeCalls(w.db), w.berlin(1000)
		take(t, c, actor)
		holding := c.teamLeaseFor(w.team)
		for team := range int64(10 * sweepFrom) {
			c.teamLeaseFor(1_000_000 + team)
		}
		if n := c.leaseCount.Load(); n > sweepFrom+1 {
			t.Errorf("%d teams are in memory", n)
		}
		if c.teamLeaseFor(w.team) != holding {
			t.Error("a lease was dropped")
		}
		w.clock.Advance(untilMidnight)
		c.sweep()
		if _, ok := c.leases.Load(w.team); ok || c.leaseCount.Load() != 0 {
			t.Error("a lease of yesterday is in memory")
		}
		if take(t, c, actor) == nil || c.leaseCount.Load() != 1 {
			t.Error("the team was not added again")
		}
	})
}

func TestSweepThresholdGrows(t *testing.T) {
	t.Parallel()
	c := NewFreeCalls(testkit.Open(t, testkit.SQLite(t), nil))
	for team := range int64(4 * sweepFrom) {
		c.teamLeaseFor(team).lease.dayEnd = math.MaxInt64
	}
	if known, next := c.leaseCount.Load(), c.sweepAt.Load(); known < 3*sweepFrom || next < known {
		t.Errorf("with %d teams the next sweep is at %d teams", known, next)
	}
}

func TestDroppedAccountNotUsed(t *testing.T) {
	t.Parallel()
	c := NewFreeCalls(testkit.Open(t, testkit.SQLite(t), nil))
	p := c.teamLeaseFor(1)
	c.sweep()
	c.leases.Store(int64(1), p)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // select chooses randomly
		if found, err := c.lockTeamLease(ctx, 1); err == nil {
			t.Errorf("found %p", found)
		}
	}
	c.leases.Delete(int64(1))
	if found, err := c.lockTeamLease(t.Context(), 1); err != nil || found == p {
		t.Errorf("found %p (%v)", found, err)
	}
}

// TestSweepsAndCalls checks that a day allows exactly its limit during sweeps.
func TestSweepsAndCalls(t *testing.T) {
	eachCallDay(t, func(t *testing.T, w callDay) {
		const limit, days = 200, 3
		c, actor := NewFreeCalls(w.db), w.berlin(limit)
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
				t.Errorf("%d calls were allowed", n)
			}
			w.clock.Advance(24 * time.Hour)
		}
	})
}
