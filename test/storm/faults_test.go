package storm

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"
)

// maxClockOffset is the maximum offset of a node's clock. As docs/running.md requires, it is less than the time in
// which a network lists new posts.
const maxClockOffset = 5 * time.Second

// faultKind is a kind of fault that starts and ends.
type faultKind struct {
	name        string
	lasts       time.Duration // maximum duration
	startEvents func()
	ends        func()
}

// faultKinds returns all kinds of faults except node failures.
func (s *site) faultKinds() []faultKind {
	out := []faultKind{
		{"networks fail, hang and lose responses", 4 * time.Second, func() {
			s.transport.foul.Store(true)
		}, func() { s.transport.foul.Store(false) }},
		{"connections are cut off", 3 * time.Second, func() { s.gate.cuts.Store(true) }, func() { s.gate.cuts.Store(false) }},
		{"the clock of a node jumps", 3 * time.Second, func() { s.jump() }, func() { s.jump() }},
		{"networks expire access tokens", 0, s.endTokens, func() {}},
		{"Redis is gone", 3 * time.Second, s.redis.Stop, s.redis.Restart},
		{"Redis hangs", 2 * time.Second, s.redis.Pause, s.redis.Resume},
		{"the disk is full", 2 * time.Second, func() { s.setDisk('f') }, func() { s.setDisk('-'); s.restartPostgres() }},
		{"the disk is slow", 3 * time.Second, func() { s.setDisk('s') }, func() { s.setDisk('-') }},
	}
	if s.postgres != nil {
		out = append(out,
			faultKind{"PostgreSQL is killed", 2 * time.Second, s.postgres.Kill, func() { s.withDisk(s.postgres.Start) }},
			faultKind{"PostgreSQL is stopped", 2 * time.Second, s.postgres.Stop, func() { s.withDisk(s.postgres.Start) }},
			faultKind{"PostgreSQL hangs", 2 * time.Second, s.postgres.Pause, s.postgres.Resume})
	}
	return out
}

func (s *site) setDisk(state byte) {
	if err := s.disk.set(state); err != nil {
		s.t.Errorf("setting the state of the disk: %v", err)
	}
}

// restartPostgres restarts PostgreSQL, which stops if it cannot write its log.
func (s *site) restartPostgres() {
	if s.postgres != nil {
		s.withDisk(func() {
			s.postgres.Kill()
			s.postgres.Start()
		})
	}
}

// jump sets the offset of a node's clock.
func (s *site) jump() { s.nodes[s.dice(len(s.nodes))].setClockOffset(s.upTo(maxClockOffset)) }

func (s *site) endTokens() {
	platforms := s.admin.Accounts.Platforms()
	if err := s.box.ExpireTokens(context.Background(), platforms[s.dice(len(platforms))]); err != nil {
		s.t.Errorf("ending access tokens: %v", err)
	}
}

// injectFaults injects faults until the context ends, and then ends all faults. Node failures are separate.
func (s *site) injectFaults(ctx context.Context) {
	var kills sync.WaitGroup
	for _, n := range s.nodes {
		kills.Go(func() { s.kill(ctx, n) })
	}
	s.transport.injecting.Store(true)
	kinds := s.faultKinds()
	order := []int{}
	for pause(ctx, s.upTo(1500*time.Millisecond)) {
		if len(order) == 0 {
			order = s.randomOrder(len(kinds)) // each kind once before any repeats
		}
		f := kinds[order[0]]
		order = order[1:]
		s.book.fault(f.name)
		f.startEvents()
		if f.lasts > 0 {
			pause(ctx, s.upTo(f.lasts))
		}
		f.ends()
	}
	kills.Wait()
	s.transport.injecting.Store(false)
}

// hangs returns the maximum time that a node hangs. With other nodes, it exceeds leases and the time in which a
// network lists new posts, so that the others continue its work.
func (s *site) hangs() time.Duration {
	if len(s.nodes) == 1 {
		return 3 * time.Second
	}
	return networkSettled + 2*time.Second
}

// kill repeatedly ends a node, mostly with SIGKILL and sometimes gracefully. Sometimes it makes the node hang and
// continue, like a migrated machine.
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
	return s.faultRandom.Perm(n)
}

// pause sleeps for d. It reports false if the context ends first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// waitIdle waits until no work is unfinished. On timeout it reports the unfinished work.
func (s *site) waitIdle(most time.Duration) {
	s.transport.lateRequests.Wait() // Late requests must arrive before the clock advances.
	began, last, left := time.Now(), time.Now(), ""
	for _, n := range s.nodes {
		n.setClockOffset(maxClockOffset)
	}
	moved := maxClockOffset
	for time.Since(last) < most {
		now, idle := s.unfinishedWork()
		if now == "" {
			s.t.Logf("no unfinished work after %v", time.Since(began).Round(time.Millisecond))
			return
		}
		if now != left {
			left, last = now, time.Now()
		}
		if idle { // All work waits for a later time, so advance the clock.
			moved += 2 * time.Second
			for _, n := range s.nodes {
				n.setClockOffset(moved)
			}
		}
		<-time.After(lookEvery)
	}
	s.book.complainf("stuck", "%s", left)
}

const lookEvery = 250 * time.Millisecond

// unfinishedQueries are queries for unfinished work, by name. The argument is the programs' time.
var unfinishedQueries = []struct{ name, from string }{
	{"deliveries", `deliveries WHERE phase IN ('planned', 'prepared', 'committing')`},
	{"accounts of posts", `post_targets t JOIN posts p ON p.id = t.post_id WHERE t.state IN ('pending', ` +
		`'sendFiles') AND p.status NOT IN ('draft', 'scheduled')`},
	{"posts", `posts WHERE status IN ('processing', 'scheduled')`},
	{"jobs", `jobs WHERE finished_at = 0`},
	{"reservations", `reservations WHERE state = 'open'`},
	{"reports", `reports WHERE status = 'pending'`},
	{"upload links", `upload_files WHERE state = 'waiting'`},
	{"upload batches", `upload_batches WHERE closed_at = 0`},
	{"calls", `paid_requests WHERE answer IS NULL`},
}

// unfinishedWork describes unfinished work, and reports whether no delivery is being processed.
func (s *site) unfinishedWork() (string, bool) {
	said := ""
	for _, u := range unfinishedQueries {
		var n int
		if err := s.db.QueryRow(context.Background(), `SELECT COUNT(*) FROM `+u.from).Scan(&n); err != nil {
			return "the database does not respond: " + err.Error(), false
		}
		if n > 0 {
			said += fmt.Sprintf("%d %s, ", n, u.name)
		}
	}
	var held int
	err := s.db.QueryRow(context.Background(),
		`SELECT COUNT(*) FROM deliveries WHERE owner <> '' AND phase IN ('planned', 'prepared', 'committing')`).Scan(&held)
	return said, err == nil && held == 0 && said != ""
}
