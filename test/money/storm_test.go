package money

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom/internal/domain/idempotency"
	"pressroom/internal/teamtime"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
	"pressroom/test/money/standin"
)

// Clients buy, repeat and disconnect, while programs are killed and restarted, the clock passes midnights and expiries,
// and credits run out and are granted. Afterwards every answer and every credit is correct.
func TestStorm(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		if !postgres(url) {
			newStorm(t, url, 1).rage()
			return
		}
		for _, nodes := range []int{2, 4} {
			t.Run(fmt.Sprint(nodes, " nodes"), func(t *testing.T) {
				t.Parallel()
				newStorm(t, testkit.Postgres(t), nodes).rage()
			})
		}
	})
}

const (
	stormPhases  = 3
	stormCalls   = 120 // in a phase, at least
	stormMost    = 200 // in a phase, at most
	stormKills   = 6   // in a phase, at least
	mostKills    = 6   // of a node in a phase: a slow machine spends its time on starting programs otherwise
	stormClients = 6
	stormFree    = 300 // free calls a day
)

// storm is one such story.
type storm struct {
	*outside
	t      *testing.T
	teams  []*modelTeam
	kills  struct{ ours, own atomic.Int64 }
	bought atomic.Int64 // how often a client wanted something
	hit    sync.Map     // points at which a process killed itself

	mu       sync.Mutex
	requests []*request
	booked   int
}

// request is one request of a client with all its attempts.
type request struct {
	team  *modelTeam
	key   *modelKey
	order order

	mu       sync.Mutex
	attempts []attempt
}

// attempt is one call of a request.
type attempt struct {
	sent, done    time.Time // by the clock of the programs
	before, after int64     // the team's last transfer before and after
	answer        *answer   // nil without a response
	twice         bool      // an earlier attempt may have arrived without an answer
}

func newStorm(t *testing.T, url string, nodes int) *storm {
	t.Helper()
	s := &storm{outside: newOutside(t, url, nodes, stormFree), t: t}
	s.moveTo(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	s.teams = []*modelTeam{
		newTeam(t, s.admin, "Asia/Kathmandu", -1, -1, -1),
		newTeam(t, s.admin, "Europe/Berlin", 150, 60, 110), // meets its limits
		newTeam(t, s.admin, "America/Los_Angeles", -1, -1), // runs dry
	}
	for i, credits := range []int64{1_000_000, 1_000_000, 40} {
		grant(t, s.admin, s.teams[i], credits, "start")
	}
	return s
}

// moveTo sets the clock of all programs.
func (s *storm) moveTo(at time.Time) { must.NoError(s.t, s.controls.Move(time.Until(at))) }

func (s *storm) now() time.Time { return s.controls.Now() }

func (s *storm) rage() {
	began := time.Now()
	for phase := range stormPhases {
		s.phase(phase)
		s.calm()
		s.certain(phase)
	}
	out := must.Get(s.operate("", "audit"))(s.t)
	if out["complaints_total"] != 0.0 {
		s.t.Errorf("the audit: %v", out)
	}
	s.tell(began)
}

// tell logs statistics.
func (s *storm) tell(began time.Time) {
	calls, unanswered, outcomes := 0, 0, map[string]int{}
	for _, r := range s.requests {
		calls += len(r.attempts)
		for _, a := range r.attempts {
			switch {
			case a.answer == nil:
				unanswered++
			case a.answer.replayed:
				outcomes["replayed"]++
			default:
				outcomes[a.answer.refusal()]++
			}
		}
	}
	var points []string
	s.hit.Range(func(point, _ any) bool {
		points = append(points, point.(string))
		return true
	})
	slices.Sort(points)
	s.t.Logf("%d requests, %d calls, %d without an answer, %d kills at random and %d at %v, %v: %v", len(s.requests),
		calls, unanswered, s.kills.ours.Load(), s.kills.own.Load(), points, time.Since(began), outcomes)
}

// phase runs the clients during all other events.
func (s *storm) phase(phase int) {
	ctx, end := context.WithCancel(s.t.Context())
	var weather, clients sync.WaitGroup
	for _, p := range s.nodes {
		if !p.running() {
			must.NoError(s.t, p.start("", ""))
		}
		weather.Go(func() { s.kill(ctx, p) })
	}
	weather.Go(func() { s.topUp(ctx) })
	var moved sync.Once
	before, enough := s.bought.Load(), s.countKills()+stormKills
	for range stormClients {
		clients.Go(func() {
			for n := s.bought.Add(1) - before; n <= stormCalls || n <= stormMost && s.countKills() < enough; n = s.bought.Add(1) - before {
				if n > stormCalls/2 {
					moved.Do(func() { s.moveOn(phase) })
				}
				s.buy(ctx)
			}
		})
	}
	clients.Wait()
	end()
	weather.Wait()
}

func (s *storm) countKills() int64 { return s.kills.ours.Load() + s.kills.own.Load() }

// moveOn advances the clock during calls: to just before a midnight, or past the expiry of keys.
func (s *storm) moveOn(phase int) {
	if phase == 1 {
		s.moveTo(s.now().Add(idempotency.Retention + time.Hour))
		return
	}
	_, midnight := teamtime.Day(s.now(), s.teams[1+phase/2].zone)
	s.moveTo(midnight.Add(-200 * time.Millisecond))
}

var deaths = []string{"before replay.once", "after replay.once", "inside stand_in.price", "inside stand_in.started",
	"inside stand_in.at_once", "before stand_in.try", "after stand_in.try",
	"inside stand_in.settled", "before stand_in.end", "after stand_in.end", "before limit.lease_calls",
	"after limit.lease_calls", "before stand_in.wake", "after stand_in.wake"}

// kill kills a node again and again, or has it kill itself, and starts it again, mostKills times.
func (s *storm) kill(ctx context.Context, p *process) {
	for n := 1; n <= mostKills; n++ {
		select {
		case <-ctx.Done():
			return
		case <-p.exit():
			s.kills.own.Add(1)
			name, _, _ := strings.Cut(p.at, "#")
			s.hit.Store(name, true)
			if p.at == "" {
				s.t.Errorf("a program ended by itself: %s", p.logText())
			}
		case <-s.soon(ctx, p):
			s.kills.ours.Add(1)
			p.kill()
		}
		at := ""
		if n < mostKills && rand.IntN(4) > 0 {
			at = fmt.Sprint(deaths[rand.IntN(len(deaths))], "#", 1+rand.IntN(4))
		}
		must.NoError(s.t, p.start(at, ""))
	}
}

// soon returns a channel that is closed when the process serves and some more calls were made, or after a second, so
// that kills occur during calls.
func (s *storm) soon(ctx context.Context, p *process) chan struct{} {
	out := make(chan struct{})
	go func() {
		defer close(out)
		if !p.serves(ctx) {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		enough := s.bought.Load() + int64(5+rand.IntN(30*len(s.nodes)))
		until(ctx, func() bool { return s.bought.Load() >= enough || !p.running() })
	}()
	return out
}

// topUp gives the poor team some credits now and then.
func (s *storm) topUp(ctx context.Context) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.booked++
		grant(s.t, s.admin, s.teams[2], 15, fmt.Sprint("top-up ", s.booked))
	}
}

// buy creates a request or repeats an earlier one until there is an answer.
func (s *storm) buy(ctx context.Context) {
	r := s.nextRequest()
	switch rand.IntN(6) {
	case 0: // at once, at several nodes
		var wg sync.WaitGroup
		for range 2 + rand.IntN(2) {
			wg.Go(func() { s.insist(ctx, r) })
		}
		wg.Wait()
	case 1: // disconnects soon and repeats
		for range 1 + rand.IntN(2) {
			short, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(12_000))*time.Microsecond)
			s.attempt(short, r)
			cancel()
		}
		s.insist(ctx, r)
	default:
		s.insist(ctx, r)
	}
}

// nextRequest makes up a request, or takes up an earlier one: with its key and request, or only with its key.
func (s *storm) nextRequest() *request {
	team := s.teams[rand.IntN(len(s.teams))]
	r := &request{team: team, key: team.keys[rand.IntN(len(team.keys))], order: anOrder()}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.order.query += fmt.Sprint(" <&> ", len(s.requests))
	r.order.idem = fmt.Sprint("key ", len(s.requests))
	if n := len(s.requests); n > 10 && rand.IntN(4) == 0 {
		earlier := s.requests[rand.IntN(n)]
		if rand.IntN(2) == 0 {
			return earlier
		}
		r.team, r.key, r.order.idem = earlier.team, earlier.key, earlier.order.idem
	}
	s.requests = append(s.requests, r)
	return r
}

func anOrder() order {
	o := order{tool: []string{standin.Search, standin.Search, standin.Tracking, standin.Faulty}[rand.IntN(4)], query: "free"}
	kinds := ends
	switch o.tool {
	case standin.Tracking:
		o.report = "r"
	case standin.Faulty:
		kinds = []standin.End{standin.Refusal, standin.Failure, standin.Panic}
	}
	if rand.IntN(10) > 0 {
		o.query = fmt.Sprint(1+rand.IntN(10), " ", kinds[rand.IntN(len(kinds))])
	}
	return o
}

// insist repeats a request until it has a final answer.
func (s *storm) insist(ctx context.Context, r *request) {
	until(ctx, func() bool {
		a := s.attempt(ctx, r)
		return a != nil && a.refusal() != inProgress && a.status < 500
	})
}

// attempt calls once, at some node.
func (s *storm) attempt(ctx context.Context, r *request) *answer {
	a := attempt{sent: s.now(), before: s.last(r.team)}
	got, reached, err := askCounting(ctx, s.nodes[rand.IntN(len(s.nodes))].root(), r.key, r.order, rand.IntN(10) == 0)
	if err == nil {
		a.answer = &got
	} else if reached == 0 {
		return nil // no attempt was made
	}
	a.twice = reached > 1
	a.done, a.after = s.now(), s.last(r.team)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts = append(r.attempts, a)
	return a.answer
}

// last returns the team's last transfer.
func (s *storm) last(m *modelTeam) int64 {
	return s.number(`SELECT COALESCE(MAX(id), 0) FROM ledger_transfers WHERE team_id = ?`, m.id)
}

func (o *outside) number(query string, args ...any) int64 {
	var n int64
	if err := o.db.QueryRow(context.Background(), query, args...).Scan(&n); err != nil {
		panic(err)
	}
	return n
}

// calm waits for running calls, restarts all programs and waits for their work.
func (s *storm) calm() {
	for _, p := range s.nodes {
		p.stop()
	}
	for _, p := range s.nodes {
		must.NoError(s.t, p.start("", ""))
	}
	s.awaitWork()
	s.check()
	for range 30 { // every node returns the stored response
		s.insist(s.t.Context(), s.requests[rand.IntN(len(s.requests))])
	}
	s.awaitWork()
	s.check()
}

// awaitWork waits until all work has ended.
func (s *storm) awaitWork() {
	if !until(s.t.Context(), func() bool { return s.number(`SELECT COUNT(*) FROM jobs WHERE finished_at = 0`) == 0 }) {
		s.t.Fatalf("work does not end:\n%s", s.nodes[0].logText())
	}
}
