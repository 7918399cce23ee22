package delivery

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/testkit"
)

// startAll starts every delivery that may run and returns them.
func (q *fairQueue) startAll() []queuedDelivery {
	out := []queuedDelivery{}
	for d, ok := q.next(); ok; d, ok = q.next() {
		out = append(out, d)
	}
	return out
}

func addMany(p *fairQueue, platform string, team int64, n int) {
	for i := range n {
		p.add(queuedDelivery{fmt.Sprintf("%s/%d/%d", platform, team, i), platform, team})
	}
}

// A network with a long queue gets only its share of the slots.
func TestNetworkShares(t *testing.T) {
	t.Parallel()
	p := newFairQueue(8, Options{Workers: 8}.perNetwork())
	addMany(p, "slow", 1, 100)
	slow := p.startAll()
	if len(slow) != 4 {
		t.Fatalf("%d deliveries to the only network, want 4", len(slow))
	}
	addMany(p, "a", 1, 100)
	addMany(p, "b", 1, 100)
	p.startAll()
	if got := p.runningByNetwork(); got["slow"] != 4 || got["a"] != 2 || got["b"] != 2 {
		t.Errorf("in flight: %v", got)
	}
	p.release(slow[0])
	if next, _ := p.next(); next.platform == "slow" {
		t.Error("the free slot goes to the network with most deliveries")
	}
}

// A busy team may use all free slots. The next free slot goes to another team.
func TestTeamFairness(t *testing.T) {
	t.Parallel()
	p := newFairQueue(16, 8)
	addMany(p, "bluesky", 1, 500)
	running := p.startAll()
	addMany(p, "bluesky", 2, 2)
	addMany(p, "bluesky", 3, 1)
	order := []int64{}
	for _, q := range running[:5] {
		p.release(q)
		next, _ := p.next()
		order = append(order, next.team)
	}
	if want := []int64{2, 3, 2, 1, 1}; len(running) != 8 || !slices.Equal(sortedCopy(order[:2]), want[:2]) ||
		!slices.Equal(order[2:], want[2:]) {
		t.Errorf("%d slots for one team; then teams %v", len(running), order)
	}
}

func sortedCopy(s []int64) []int64 { return slices.Sorted(slices.Values(s)) }

// In any order of additions and releases, no limit is exceeded, and every delivery runs exactly once.
func TestFairQueueModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newFairQueue(rapid.IntRange(1, 6).Draw(t, "max running"), rapid.IntRange(1, 4).Draw(t, "max per network"))
		added, started, running := map[string]bool{}, map[string]bool{}, []queuedDelivery{}
		finish := func(i int) {
			p.release(running[i])
			running = slices.Delete(running, i, i+1)
		}
		start := func() {
			for _, q := range p.startAll() {
				if started[q.id] || !added[q.id] {
					t.Fatalf("%s started twice or was never added", q.id)
				}
				started[q.id], running = true, append(running, q)
			}
			for platform, n := range p.runningByNetwork() {
				if n > p.maxPerNetwork {
					t.Fatalf("%d in flight to %s", n, platform)
				}
			}
			if len(running) > p.maxRunning {
				t.Fatalf("%d in flight", len(running))
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				q := queuedDelivery{fmt.Sprint(len(added)), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "platform"),
					rapid.Int64Range(1, 3).Draw(t, "team")}
				added[q.id] = true
				p.add(q)
				p.add(q) // woken twice
			},
			"finish": func(t *rapid.T) {
				if len(running) > 0 {
					finish(rapid.IntRange(0, len(running)-1).Draw(t, "which"))
				}
			},
			"": func(*rapid.T) { start() },
		})
		for len(running) > 0 {
			finish(0)
			start()
		}
		if len(started) != len(added) {
			t.Fatalf("%d added, %d started", len(added), len(started))
		}
	})
}

// Drain waits for running deliveries and prevents new ones from starting.
func TestStopWaitsForRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Service{pending: newFairQueue(4, 4)}
		addMany(s.pending, "bluesky", 1, 2)
		running, _ := s.pending.next()
		drainCtx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Drain(drainCtx); err == nil {
			t.Error("Drain returned while a delivery was running")
		}
		time.AfterFunc(time.Second, func() { s.pending.release(running) })
		if err := s.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		if _, free := s.pending.next(); free {
			t.Error("another delivery started")
		}
	})
}

// While one network hangs, deliveries to another network are sent, for the same team too.
func TestHangingNetwork(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		unblock := make(chan struct{})
		hanging, working := &memoryNetwork{platform: "threads", onCommit: func(ctx context.Context) (bool, error) {
			select {
			case <-unblock:
			case <-ctx.Done():
			}
			return true, nil
		}}, &memoryNetwork{platform: "bluesky"}
		p := newMultiEnv(t, testkit.Open(t, url, nil), 2, Options{Lease: 10 * time.Second, Workers: 4}, hanging, working)
		p.scheduleDue(t, 0, 0, 20)
		p.scheduleDue(t, 1, 1, 20)
		stop := p.start(t)
		p.waitUntil(t, func() bool { return working.postCount() == 20 })
		if got := p.InFlight(); got["threads"] != 2 || hanging.postCount() != 0 {
			t.Errorf("in flight: %v; %d published on the hanging network", got, hanging.postCount())
		}
		close(unblock)
		p.waitUntil(t, func() bool { return p.countOpen(t) == 0 })
		stop()
		for _, n := range []*memoryNetwork{hanging, working} {
			if n.postCount() != 20 || n.maxCopies() != 1 {
				t.Errorf("%s has %d posts, one of them %d times", n.platform, n.postCount(), n.maxCopies())
			}
		}
	})
}
