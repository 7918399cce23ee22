package storm

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"
)

// mostAhead is how far a node's clock is ahead of the machine's at most while the weather lasts: less than the time
// within which a network lists what it was given, as docs/running.md asks it of clocks.
const mostAhead = 5 * time.Second

// front is one kind of weather: it begins, and ends after a while.
type front struct {
	name   string
	lasts  time.Duration // at most
	begins func()
	ends   func()
}

// fronts returns all kinds of weather that the site has, but for nodes that die.
func (s *site) fronts() []front {
	out := []front{
		{"the networks fail, hang and lose answers", 4 * time.Second, func() {
			s.wire.foul.Store(true)
		}, func() { s.wire.foul.Store(false) }},
		{"connections are cut off", 3 * time.Second, func() { s.gate.cuts.Store(true) }, func() { s.gate.cuts.Store(false) }},
		{"the clock of a node jumps", 3 * time.Second, func() { s.jump() }, func() { s.jump() }},
		{"the networks end access tokens", 0, s.endTokens, func() {}},
		{"Redis is gone", 3 * time.Second, s.redis.Stop, s.redis.Restart},
		{"Redis hangs", 2 * time.Second, s.redis.Pause, s.redis.Resume},
	}
	if s.disk.there() {
		out = append(out,
			front{"the disk is full", 2 * time.Second, func() { s.setDisk('f') }, func() { s.setDisk('-'); s.rise() }},
			front{"the disk is slow", 3 * time.Second, func() { s.setDisk('s') }, func() { s.setDisk('-') }})
	}
	if s.postgres != nil {
		out = append(out,
			front{"PostgreSQL is killed", 2 * time.Second, s.postgres.Kill, func() { s.withDisk(s.postgres.Start) }},
			front{"PostgreSQL is stopped", 2 * time.Second, s.postgres.Stop, func() { s.withDisk(s.postgres.Start) }},
			front{"PostgreSQL hangs", 2 * time.Second, s.postgres.Pause, s.postgres.Resume})
	}
	return out
}

func (s *site) setDisk(state byte) {
	if err := s.disk.set(state); err != nil {
		s.t.Errorf("setting the disk: %v", err)
	}
}

// rise starts PostgreSQL again, which gives up where it cannot write its log.
func (s *site) rise() {
	if s.postgres != nil {
		s.withDisk(func() {
			s.postgres.Kill()
			s.postgres.Start()
		})
	}
}

// jump sets the clock of a node ahead, or back.
func (s *site) jump() { s.nodes[s.dice(len(s.nodes))].ahead(s.upTo(mostAhead)) }

func (s *site) endTokens() {
	platforms := s.admin.Accounts.Platforms()
	if err := s.box.ExpireTokens(context.Background(), platforms[s.dice(len(platforms))]); err != nil {
		s.t.Errorf("ending access tokens: %v", err)
	}
}

// blow lets the weather come and go until the context ends, and leaves everything well. Nodes die beside it.
func (s *site) blow(ctx context.Context) {
	var kills sync.WaitGroup
	for _, n := range s.nodes {
		kills.Go(func() { s.kill(ctx, n) })
	}
	s.wire.blows.Store(true)
	fronts := s.fronts()
	order := []int{}
	for pause(ctx, s.upTo(1500*time.Millisecond)) {
		if len(order) == 0 {
			order = s.randomOrder(len(fronts)) // each once before any comes again
		}
		f := fronts[order[0]]
		order = order[1:]
		s.book.fault(f.name)
		f.begins()
		if f.lasts > 0 {
			pause(ctx, s.upTo(f.lasts))
		}
		f.ends()
	}
	kills.Wait()
	s.wire.blows.Store(false)
}

// hangs returns for how long a node hangs at most. Where there are others it is longer than the lease of what it holds, and
// than a network takes to list what it was given, so that they go on with its work meanwhile.
func (s *site) hangs() time.Duration {
	if len(s.nodes) == 1 {
		return 3 * time.Second
	}
	return networkSettled + 2*time.Second
}

// kill ends a node again and again: mostly at once, sometimes in order. Now and then it hangs, as a machine does that
// is moved, and goes on as if nothing had been.
func (s *site) kill(ctx context.Context, n *node) {
	for pause(ctx, time.Second+s.upTo(10*time.Second)) {
		if n.hung.Load() {
			continue
		}
		switch s.dice(6) {
		case 0:
			s.book.fault("a node is stopped")
			n.end(syscall.SIGTERM)
		case 1:
			s.book.fault("a node hangs")
			n.signal(syscall.SIGSTOP)
			pause(ctx, s.upTo(s.hangs()))
			n.signal(syscall.SIGCONT)
		default:
			s.book.fault("a node is killed")
			n.end(syscall.SIGKILL)
		}
	}
}

func (s *site) upTo(d time.Duration) time.Duration {
	return time.Duration(1+s.dice(int(d/time.Millisecond))) * time.Millisecond
}

func (s *site) randomOrder(n int) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.thrown.Perm(n)
}

// pause waits for a while; false where the context ends first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// clear waits until nothing is under way any more, and tells of what stays.
func (s *site) clear(most time.Duration) {
	s.wire.under.Wait() // what arrives late has arrived, before any clock is moved on
	began, last, left := time.Now(), time.Now(), ""
	for _, n := range s.nodes {
		n.ahead(mostAhead)
	}
	moved := mostAhead
	for time.Since(last) < most {
		now, idle := s.underWay()
		if now == "" {
			s.t.Logf("nothing was under way any more after %v", time.Since(began).Round(time.Millisecond))
			return
		}
		if now != left {
			left, last = now, time.Now()
		}
		if idle { // everybody waits for a later time: it comes sooner
			moved += 2 * time.Second
			for _, n := range s.nodes {
				n.ahead(moved)
			}
		}
		<-time.After(lookEvery)
	}
	s.book.complainf("stuck", "%s", left)
}

const lookEvery = 250 * time.Millisecond

// underWays are what has begun and not ended, by what it is called. The clock of the programs is the argument's.
var underWays = []struct{ name, from string }{
	{"deliveries", `deliveries WHERE phase IN ('planned', 'prepared', 'committing')`},
	{"accounts of posts", `post_targets t JOIN posts p ON p.id = t.post_id WHERE t.state IN ('pending', ` +
		`'sending') AND p.status NOT IN ('draft', 'scheduled')`},
	{"posts", `posts WHERE status IN ('processing', 'scheduled')`},
	{"jobs", `jobs WHERE finished_at = 0`},
	{"reservations", `reservations WHERE state = 'open'`},
	{"reports", `reports WHERE status = 'pending'`},
	{"upload links", `upload_files WHERE state = 'waiting'`},
	{"upload batches", `upload_batches WHERE closed_at = 0`},
	{"calls", `paid_requests WHERE answer IS NULL`},
}

// underWay says what is, empty for nothing, and whether nobody works on a delivery just now.
func (s *site) underWay() (string, bool) {
	said := ""
	for _, u := range underWays {
		var n int
		if err := s.looks.QueryRow(context.Background(), `SELECT COUNT(*) FROM `+u.from).Scan(&n); err != nil {
			return "the database does not answer: " + err.Error(), false
		}
		if n > 0 {
			said += fmt.Sprintf("%d %s, ", n, u.name)
		}
	}
	var held int
	err := s.looks.QueryRow(context.Background(),
		`SELECT COUNT(*) FROM deliveries WHERE owner <> '' AND phase IN ('planned', 'prepared', 'committing')`).Scan(&held)
	return said, err == nil && held == 0 && said != ""
}
