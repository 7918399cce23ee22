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

// takeAll starts every delivery that may run.
func (p *fairQueue) takeAll() []queued {
	out := []queued{}
	for b, free := p.next(); free; b, free = p.next() {
		out = append(out, b)
	}
	return out
}

func addMany(p *fairQueue, platform string, team int64, n int) {
	for i := range n {
		p.add(queued{fmt.Sprintf("%s/%d/%d", platform, team, i), platform, team})
	}
}

// A network has its share of the slots, however long its queue, and the others keep theirs.
func TestNetworkShares(t *testing.T) {
	t.Parallel()
	p := newFairQueue(8, Options{Workers: 8}.perNetwork())
	addMany(p, "slow", 1, 100)
	slow := p.takeAll()
	if len(slow) != 4 {
		t.Fatalf("%d go to the network that is alone, want 4", len(slow))
	}
	addMany(p, "a", 1, 100)
	addMany(p, "b", 1, 100)
	p.takeAll()
	if got := p.runningByNetwork(); got["slow"] != 4 || got["a"] != 2 || got["b"] != 2 {
		t.Errorf("under way: %v", got)
	}
	p.release(slow[0])
	if next, _ := p.next(); next.platform == "slow" {
		t.Error("the place goes to the network that has most already")
	}
}

// A busy team uses free slots, and leaves the next one to a team that comes later.
func TestTeamFairness(t *testing.T) {
	t.Parallel()
	p := newFairQueue(16, 8)
	addMany(p, "bluesky", 1, 500)
	under := p.takeAll()
	addMany(p, "bluesky", 2, 2)
	addMany(p, "bluesky", 3, 1)
	order := []int64{}
	for _, b := range under[:5] {
		p.release(b)
		next, _ := p.next()
		order = append(order, next.team)
	}
	if want := []int64{2, 3, 2, 1, 1}; len(under) != 8 || !slices.Equal(sortedCopy(order[:2]), want[:2]) ||
		!slices.Equal(order[2:], want[2:]) {
		t.Errorf("%d places for one team; then came the teams %v", len(under), order)
	}
}

func sortedCopy(s []int64) []int64 { return slices.Sorted(slices.Values(s)) }

// In any order of arrivals and ends, no share is exceeded, nothing is lost and nothing runs twice.
func TestFairQueueModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newFairQueue(rapid.IntRange(1, 6).Draw(t, "flights"), rapid.IntRange(1, 4).Draw(t, "each"))
		came, went, under := map[string]bool{}, map[string]bool{}, []queued{}
		land := func(i int) {
			p.release(under[i])
			under = slices.Delete(under, i, i+1)
		}
		fly := func() {
			for _, b := range p.takeAll() {
				if went[b.id] || !came[b.id] {
					t.Fatalf("%s goes again or from nowhere", b.id)
				}
				went[b.id], under = true, append(under, b)
			}
			for platform, n := range p.runningByNetwork() {
				if n > p.maxPerNetwork {
					t.Fatalf("%d under way to %s", n, platform)
				}
			}
			if len(under) > p.maxRunning {
				t.Fatalf("%d under way", len(under))
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"come": func(t *rapid.T) {
				b := queued{fmt.Sprint(len(came)), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "platform"),
					rapid.Int64Range(1, 3).Draw(t, "team")}
				came[b.id] = true
				p.add(b)
				p.add(b) // woken twice
			},
			"land": func(t *rapid.T) {
				if len(under) > 0 {
					land(rapid.IntRange(0, len(under)-1).Draw(t, "which"))
				}
			},
			"": func(*rapid.T) { fly() },
		})
		for len(under) > 0 {
			land(0)
			fly()
		}
		if len(went) != len(came) {
			t.Fatalf("%d came, %d went", len(came), len(went))
		}
	})
}

// Draining waits for running deliveries and starts no more.
func TestStopWaitsForRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Service{waiting: newFairQueue(4, 4)}
		addMany(s.waiting, "bluesky", 1, 2)
		b, _ := s.waiting.next()
		ending, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Drain(ending); err == nil {
			t.Error("landed while something was under way")
		}
		time.AfterFunc(time.Second, func() { s.waiting.release(b) })
		if err := s.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		if _, free := s.waiting.next(); free {
			t.Error("another one started")
		}
	})
}

// While one network hangs, deliveries to another start within seconds, for busy teams too.
func TestHangingNetwork(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		again := make(chan struct{})
		hangs, well := &memoryNetwork{platform: "threads", commits: func(ctx context.Context) (bool, error) {
			select {
			case <-again:
			case <-ctx.Done():
			}
			return true, nil
		}}, &memoryNetwork{platform: "bluesky"}
		p := newMultiEnv(t, testkit.Open(t, url, nil), 2, Options{Lease: 10 * time.Second, Workers: 4}, hangs, well)
		p.scheduleDue(t, 0, 0, 20)
		p.scheduleDue(t, 1, 1, 20)
		stop := p.start(t)
		p.waitUntil(t, func() bool { return well.count() == 20 })
		if got := p.InFlight(); got["threads"] != 2 || hangs.count() != 0 {
			t.Errorf("under way: %v, %d held where it hangs", got, hangs.count())
		}
		close(again)
		p.waitUntil(t, func() bool { return p.countOpen(t) == 0 })
		stop()
		for _, n := range []*memoryNetwork{hangs, well} {
			if n.count() != 20 || n.most() != 1 {
				t.Errorf("%s holds %d, one of them %d times", n.platform, n.count(), n.most())
			}
		}
	})
}
