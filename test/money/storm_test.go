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

	"pressroom.example/pressroom/internal/domain/idempotency"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/test/money/standin"
)

// Clients make paid calls, repeat them and disconnect. Meanwhile, servers are killed and restarted, the clock passes
// midnights and expiries, and credits run out and are granted. In the end, all answers and credits are correct.
func TestStorm(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		if !postgres(url) {
			newStorm(t, url, 1).run()
			return
		}
		for _, nodes := range []int{2, 4} {
			t.Run(fmt.Sprint(nodes, " nodes"), func(t *testing.T) {
				t.Parallel()
				newStorm(t, testkit.Postgres(t), nodes).run()
			})
		}
	})
}

const (
	stormPhases          = 3
	stormMinCalls        = 120 // minimum in a phase
	stormMaxCalls        = 200 // maximum in a phase
	stormMinKills        = 6   // minimum in a phase
	stormMaxKillsPerNode = 6   // maximum for a node in a phase, because a slow machine restarts slowly
	stormClients         = 6
	stormFree            = 300 // free calls per day
)

// storm is one run of TestStorm.
type storm struct {
	*outOfProcess
	t       *testing.T
	teams   []*modelTeam
	kills   struct{ ours, own atomic.Int64 }
	started atomic.Int64 // number of calls, without repeats
	reached sync.Map     // points at which a process killed itself

	mu       sync.Mutex
	requests []*request
	topUps   int
}

// request is one request of a client with all its attempts.
type request struct {
	team  *modelTeam
	key   *modelKey
	order apiCall

	mu       sync.Mutex
	attempts []attempt
}

// attempt is one try to make a request.
type attempt struct {
	sent, done     time.Time // by the servers' clock
	before, after  int64     // ID of the team's last transfer before and after the attempt
	answer         *answer   // nil without a response
	maybeSentTwice bool      // the HTTP client may have sent the request twice
}

func newStorm(t *testing.T, url string, nodes int) *storm {
	t.Helper()
	s := &storm{outOfProcess: newOutOfProcess(t, url, nodes, stormFree), t: t}
	s.moveTo(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	s.teams = []*modelTeam{
		newTeam(t, s.admin, "Asia/Kathmandu", -1, -1, -1),
		newTeam(t, s.admin, "Europe/Berlin", 150, 60, 110), // reaches its daily limits
		newTeam(t, s.admin, "America/Los_Angeles", -1, -1), // runs out of credits
	}
	for i, credits := range []int64{1_000_000, 1_000_000, 40} {
		grant(t, s.admin, s.teams[i], credits, "start")
	}
	return s
}

// moveTo sets the clock of all servers.
func (s *storm) moveTo(at time.Time) { must.NoError(s.t, s.controls.SetOffset(time.Until(at))) }

func (s *storm) now() time.Time { return s.controls.Now() }

func (s *storm) run() {
	began := time.Now()
	for phase := range stormPhases {
		s.phase(phase)
		s.restartAndCheck()
		s.makePredictableCalls(phase)
	}
	out := must.Get(s.runAdmin("", "audit"))(s.t)
	if out["complaints_total"] != 0.0 {
		s.t.Errorf("audit: %v", out)
	}
	s.logStatistics(began)
}

// logStatistics logs statistics.
func (s *storm) logStatistics(began time.Time) {
	calls, unanswered, outcomes := 0, 0, map[string]int{}
	for _, r := range s.requests {
		calls += len(r.attempts)
		for _, a := range r.attempts {
			switch {
			case a.answer == nil:
				unanswered++
			case a.answer.isReplay:
				outcomes["replayed"]++
			default:
				outcomes[a.answer.rejection()]++
			}
		}
	}
	var points []string
	s.reached.Range(func(point, _ any) bool {
		points = append(points, point.(string))
		return true
	})
	slices.Sort(points)
	s.t.Logf("%d requests, %d calls, %d without an answer, %d kills at random and %d at %v, %v: %v", len(s.requests),
		calls, unanswered, s.kills.ours.Load(), s.kills.own.Load(), points, time.Since(began), outcomes)
}

// phase runs the clients while nodes are killed, credits are granted and the clock advances.
func (s *storm) phase(phase int) {
	ctx, end := context.WithCancel(s.t.Context())
	var events, clients sync.WaitGroup
	for _, p := range s.nodes {
		if !p.running() {
			must.NoError(s.t, p.start("", ""))
		}
		events.Go(func() { s.killRepeatedly(ctx, p) })
	}
	events.Go(func() { s.topUp(ctx) })
	var moved sync.Once
	before, enough := s.started.Load(), s.countKills()+stormMinKills
	for range stormClients {
		clients.Go(func() {
			for n := s.started.Add(1) - before; n <= stormMinCalls || n <= stormMaxCalls &&
				s.countKills() < enough; n = s.started.Add(1) - before {
				if n > stormMinCalls/2 {
					moved.Do(func() { s.advanceClock(phase) })
				}
				s.makeRequest(ctx)
			}
		})
	}
	clients.Wait()
	end()
	events.Wait()
}

func (s *storm) countKills() int64 { return s.kills.ours.Load() + s.kills.own.Load() }

// advanceClock advances the clock to just before a midnight, or past the expiry of the Idempotency-Keys.
func (s *storm) advanceClock(phase int) {
	if phase == 1 {
		s.moveTo(s.now().Add(idempotency.Retention + time.Hour))
		return
	}
	_, midnight := teamtime.Day(s.now(), s.teams[1+phase/2].zone)
	s.moveTo(midnight.Add(-200 * time.Millisecond))
}

// killPoints are the points at which a server kills itself.
var killPoints = []string{"before replay.once", "after replay.once", "inside stand_in.price", "inside stand_in.started",
	"inside stand_in.at_once", "before stand_in.try", "after stand_in.try",
	"inside stand_in.settled", "before stand_in.end", "after stand_in.end", "before limit.lease_calls",
	"after limit.lease_calls", "before stand_in.wake", "after stand_in.wake"}

// killRepeatedly kills a node, or waits until it kills itself, and restarts it, up to stormMaxKillsPerNode times.
func (s *storm) killRepeatedly(ctx context.Context, p *process) {
	for n := 1; n <= stormMaxKillsPerNode; n++ {
		select {
		case <-ctx.Done():
			return
		case <-p.ended():
			s.kills.own.Add(1)
			name, _, _ := strings.Cut(p.killPoint, "#")
			s.reached.Store(name, true)
			if p.killPoint == "" {
				s.t.Errorf("a server ended unexpectedly: %s", p.logText())
			}
		case <-s.afterMoreCalls(ctx, p):
			s.kills.ours.Add(1)
			p.kill()
		}
		at := ""
		if n < stormMaxKillsPerNode && rand.IntN(4) > 0 {
			at = fmt.Sprint(killPoints[rand.IntN(len(killPoints))], "#", 1+rand.IntN(4))
		}
		must.NoError(s.t, p.start(at, ""))
	}
}

// afterMoreCalls returns a channel that is closed once the process serves and some more calls were made, or after a
// second. Kills therefore occur during calls.
func (s *storm) afterMoreCalls(ctx context.Context, p *process) chan struct{} {
	out := make(chan struct{})
	go func() {
		defer close(out)
		if !p.awaitReady(ctx) {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		enough := s.started.Load() + int64(5+rand.IntN(30*len(s.nodes)))
		poll(ctx, func() bool { return s.started.Load() >= enough || !p.running() })
	}()
	return out
}

// topUp periodically grants credits to the team that runs out of them.
func (s *storm) topUp(ctx context.Context) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.topUps++
		grant(s.t, s.admin, s.teams[2], 15, fmt.Sprint("top-up ", s.topUps))
	}
}

// makeRequest makes a new or an earlier request until it gets an answer.
func (s *storm) makeRequest(ctx context.Context) {
	r := s.nextRequest()
	switch rand.IntN(6) {
	case 0: // concurrently, on several nodes
		var wg sync.WaitGroup
		for range 2 + rand.IntN(2) {
			wg.Go(func() { s.attemptUntilAnswered(ctx, r) })
		}
		wg.Wait()
	case 1: // disconnect early, then repeat
		for range 1 + rand.IntN(2) {
			short, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(12_000))*time.Microsecond)
			s.attempt(short, r)
			cancel()
		}
		s.attemptUntilAnswered(ctx, r)
	default:
		s.attemptUntilAnswered(ctx, r)
	}
}

// nextRequest returns a new request, an earlier request, or a new request with the key of an earlier one.
func (s *storm) nextRequest() *request {
	team := s.teams[rand.IntN(len(s.teams))]
	r := &request{team: team, key: team.keys[rand.IntN(len(team.keys))], order: anOrder()}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.order.query += fmt.Sprint(" <&> ", len(s.requests))
	r.order.key = fmt.Sprint("key ", len(s.requests))
	if n := len(s.requests); n > 10 && rand.IntN(4) == 0 {
		earlier := s.requests[rand.IntN(n)]
		if rand.IntN(2) == 0 {
			return earlier
		}
		r.team, r.key, r.order.key = earlier.team, earlier.key, earlier.order.key
	}
	s.requests = append(s.requests, r)
	return r
}

func anOrder() apiCall {
	o := apiCall{tool: []string{standin.Search, standin.Search, standin.Tracking, standin.Faulty}[rand.IntN(4)], query: "free"}
	kinds := searchEnds
	switch o.tool {
	case standin.Tracking:
		o.report = "r"
	case standin.Faulty:
		kinds = []standin.Outcome{standin.Rejection, standin.Failure, standin.Panic}
	}
	if rand.IntN(10) > 0 {
		o.query = fmt.Sprint(1+rand.IntN(10), " ", kinds[rand.IntN(len(kinds))])
	}
	return o
}

// attemptUntilAnswered repeats a request until it gets a final answer.
func (s *storm) attemptUntilAnswered(ctx context.Context, r *request) {
	poll(ctx, func() bool {
		a := s.attempt(ctx, r)
		return a != nil && a.rejection() != keyInProgress && a.status < 500
	})
}

// attempt makes the request once, on a random node.
func (s *storm) attempt(ctx context.Context, r *request) *answer {
	a := attempt{sent: s.now(), before: s.lastTransfer(r.team)}
	got, reached, err := callCounting(ctx, s.nodes[rand.IntN(len(s.nodes))].baseURL(), r.key, r.order, rand.IntN(10) == 0)
	if err == nil {
		a.answer = &got
	} else if reached == 0 {
		return nil // no attempt was made
	}
	a.maybeSentTwice = reached > 1
	a.done, a.after = s.now(), s.lastTransfer(r.team)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts = append(r.attempts, a)
	return a.answer
}

// lastTransfer returns the ID of the team's last transfer.
func (s *storm) lastTransfer(m *modelTeam) int64 {
	return s.queryInt(`SELECT COALESCE(MAX(id), 0) FROM ledger_transfers WHERE team_id = ?`, m.id)
}

func (o *outOfProcess) queryInt(query string, args ...any) int64 {
	var n int64
	if err := o.db.QueryRow(context.Background(), query, args...).Scan(&n); err != nil {
		panic(err)
	}
	return n
}

// restartAndCheck restarts all servers gracefully, waits for their jobs and checks the results.
func (s *storm) restartAndCheck() {
	for _, p := range s.nodes {
		p.stop()
	}
	for _, p := range s.nodes {
		must.NoError(s.t, p.start("", ""))
	}
	s.awaitJobs()
	s.check()
	for range 30 { // repeats replay the stored answers
		s.attemptUntilAnswered(s.t.Context(), s.requests[rand.IntN(len(s.requests))])
	}
	s.awaitJobs()
	s.check()
}

// awaitJobs waits until all jobs have finished.
func (s *storm) awaitJobs() {
	if !poll(s.t.Context(), func() bool { return s.queryInt(`SELECT COUNT(*) FROM jobs WHERE finished_at = 0`) == 0 }) {
		s.t.Fatalf("jobs do not finish:\n%s", s.nodes[0].logText())
	}
}
