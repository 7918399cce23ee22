package delivery

import (
	"context"
	"database/sql"
	"net/http"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

var testServer = server{"bluesky", "https://one.example"}

// openCircuit records enough failures to open the circuit of testServer.
func openCircuit(c *breakers) {
	for range openAfterFailures - 1 {
		c.recordFailure(testServer, "a")
	}
	c.recordFailure(testServer, "b")
}

func TestCircuitOpens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setup func(c *breakers, clock *testkit.Clock)
		want  CircuitState
	}{
		"five failures of two deliveries": {func(c *breakers, _ *testkit.Clock) { openCircuit(c) }, Open},
		"five failures of one delivery": {func(c *breakers, _ *testkit.Clock) {
			openCircuit(c)
			c.recordResponse(testServer)
			for range 9 {
				c.recordFailure(testServer, "a")
			}
		}, Closed},
		"success between failures": {func(c *breakers, _ *testkit.Clock) {
			c.recordFailure(testServer, "a")
			c.recordResponse(testServer)
			for range 4 {
				c.recordFailure(testServer, "b")
			}
		}, Closed},
		"failures over more than a minute": {func(c *breakers, clock *testkit.Clock) {
			for _, id := range []string{"a", "b", "a", "b", "a", "b", "a"} {
				c.recordFailure(testServer, id)
				clock.Advance(16 * time.Second)
			}
		}, Closed},
		"answer from another server of the network": {func(c *breakers, _ *testkit.Clock) {
			openCircuit(c)
			c.recordResponse(server{"bluesky", "https://two.example"})
		}, Open},
	} {
		clock := testkit.NewClock(noon)
		circuits := newBreakers(clock.Now)
		c.setup(circuits, clock)
		if got := circuits.worstCircuit("bluesky").State; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A call to a server that the operator does not allow neither opens nor closes a circuit.
func TestCircuitIgnoresBlockedCalls(t *testing.T) {
	t.Parallel()
	s := &Service{breakers: newBreakers(testkit.NewClock(noon).Now)}
	reportBlocked := func() {
		for n := range 3 * openAfterFailures {
			f := &attempt{s: s, d: delivery{ID: string(rune('a' + n))}, server: testServer}
			for _, call := range []string{"prepare", "commit"} {
				f.reportCall(t.Context(), call, &network.Error{Class: network.HostBlocked})
			}
		}
	}
	reportBlocked()
	if got := s.Circuit("bluesky").State; got != Closed {
		t.Errorf("closed circuit became %s", got)
	}
	openCircuit(s.breakers)
	reportBlocked()
	if got := s.Circuit("bluesky").State; got != Open {
		t.Errorf("open circuit became %s", got)
	}
}

// Each failed probe doubles the time that a circuit is open. Only one delivery probes at a time. A successful probe
// closes the circuit.
func TestCircuitProbes(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	c := newBreakers(clock.Now)
	openCircuit(c)
	for _, seconds := range []int{2, 4, 8, 16, 32, 60, 60} {
		openTime := time.Duration(seconds) * time.Second
		wait, may := c.allow(testServer, "b")
		if may || wait != openTime || c.worstCircuit("bluesky") != (Circuit{Open, noon}) {
			t.Fatalf("allowed: %t; wait %v, want %v; circuit %+v", may, wait, openTime, c.worstCircuit("bluesky"))
		}
		clock.Advance(wait)
		// If no delivery probes, the circuit stays half-open.
		if c.worstCircuit("bluesky") != (Circuit{HalfOpen, noon}) {
			t.Fatalf("after the wait the circuit is %+v", c.worstCircuit("bluesky"))
		}
		if _, may := c.allow(testServer, "inconclusive"); !may || c.worstCircuit("bluesky").State != HalfOpen {
			t.Fatal("the first delivery after the wait cannot probe")
		}
		c.releaseProbes("inconclusive")
		if _, may := c.allow(testServer, "probe"); !may {
			t.Fatal("after an inconclusive probe, another delivery cannot probe")
		}
		if _, may := c.allow(testServer, "probe"); !may {
			t.Fatal("the probe's second call was blocked")
		}
		if wait, may := c.allow(testServer, "other"); may || wait != openTime {
			t.Fatalf("during a probe, another delivery may call: %t; wait %v, want %v", may, wait, openTime)
		}
		c.recordFailure(testServer, "late") // a call that started before the circuit opened
		c.recordFailure(testServer, "probe")
	}
	clock.Advance(maxOpenTime)
	c.allow(testServer, "probe")
	clock.Advance(2 * circuitIdleTime)
	if c.worstCircuit("bluesky").State != HalfOpen {
		t.Error("the circuit of a slow probe was forgotten")
	}
	c.recordResponse(testServer)
	if _, may := c.allow(testServer, "other"); !may || c.worstCircuit("bluesky") != (Circuit{State: Closed}) ||
		len(c.byServer) != 0 {
		t.Errorf("after a success: allowed %t, circuit %+v", may, c.worstCircuit("bluesky"))
	}
	openCircuit(c)
	clock.Advance(2 * circuitIdleTime)
	if c.worstCircuit("bluesky") != (Circuit{State: Closed}) || len(c.byServer) != 0 {
		t.Errorf("long after the last failure: %+v", c.worstCircuit("bluesky"))
	}
}

var errDown = &network.Error{Class: network.Transient, Status: 503}

// A post that is due during an outage is published once afterwards, without using up its attempts.
func TestPublishAfterOutage(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		recovery := noon.Add(20 * time.Minute)
		n := &memoryNetwork{platform: "bluesky"}
		n.onCommit = func(context.Context) (bool, error) {
			if clock.Now().Before(recovery) {
				return false, errDown
			}
			return true, nil
		}
		p := newMultiEnv(t, testkit.Open(t, url, clock), 2, DefaultOptions, n)
		p.scheduleDue(t, 0, 0, 1)
		p.runUntil(t, clock, noon.Add(12*time.Second)) // Most attempts of this post fail before the circuit opens.
		p.scheduleDue(t, 0, 0, 5)
		p.scheduleDue(t, 1, 0, 5)
		p.runUntil(t, clock, noon.Add(10*time.Minute))
		if got := p.Circuit("bluesky"); got.State != Open {
			t.Fatalf("during the outage: circuit %+v", got)
		}
		p.runUntil(t, clock, noon.Add(25*time.Minute))
		if n.postCount() != 11 || n.maxCopies() != 1 || p.countOpen(t) != 0 || p.Circuit("bluesky").State != Closed {
			t.Errorf("%d published, one %d times; %d open; circuit %+v", n.postCount(), n.maxCopies(), p.countOpen(t), p.Circuit("bluesky"))
		}
		p.checkPublishedOnce(t, n)
	})
}

// A post waits at most half an hour for a circuit. Then it fails, and its history has the reason.
func TestCircuitWaitLimit(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		n := &memoryNetwork{platform: "bluesky", onCommit: func(context.Context) (bool, error) { return false, errDown }}
		p := newMultiEnv(t, testkit.Open(t, url, clock), 1, DefaultOptions, n)
		p.scheduleDue(t, 0, 0, 5)
		for range 12 { // Each round opens the circuit again.
			openCircuit(p.breakers)
			p.runUntil(t, clock, clock.Now().Add(3*time.Minute))
		}
		if p.countOpen(t) != 0 || n.postCount() != 0 {
			t.Fatalf("%d open, %d published", p.countOpen(t), n.postCount())
		}
		p.checkPublishedOnce(t, n)
		var post string
		must.NoError(t, p.db.QueryRow(t.Context(), `SELECT post_id FROM deliveries WHERE error_code = 'network_error'
			AND tries < ? ORDER BY id LIMIT 1`, maxTries).Scan(&post))
		history, err := p.Attempts(t.Context(), p.calls[0].TeamID, post)
		if err != nil || !slices.ContainsFunc(history, func(l AttemptLine) bool {
			return l.Call == callWait && l.Result == resultGaveUp && l.EndedAt.Sub(l.At) >= maxOutageWait
		}) {
			t.Errorf("%+v, %v", history, err)
		}
	})
}

// Regardless of the network's behavior, no post is published twice or lost, and each post shows its actual result.
func TestCircuitsNeverPublishTwice(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	n := &memoryNetwork{platform: "bluesky"}
	p := newMultiEnv(t, testkit.Open(t, testkit.SQLite(t), clock), 1, DefaultOptions, n)
	rapid.Check(t, func(rt *rapid.T) {
		effects := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 60).Draw(rt, "does")
		n.onCommit = func(context.Context) (bool, error) {
			next := 0
			if len(effects) > 0 {
				next, effects = effects[0], effects[1:]
			}
			switch next {
			case 1:
				return true, &network.Error{Class: network.OutcomeUnknown}
			case 2:
				return false, &network.Error{Class: network.OutcomeUnknown}
			case 3, 4, 5:
				return false, errDown
			}
			return true, nil
		}
		p.scheduleDue(t, 0, 0, rapid.IntRange(1, 12).Draw(rt, "posts"))
		p.runUntil(t, clock, clock.Now().Add(2*time.Hour))
		if p.countOpen(t) != 0 || n.maxCopies() > 1 {
			rt.Fatalf("%d open, one published %d times", p.countOpen(t), n.maxCopies())
		}
		p.checkPublishedOnce(t, n)
	})
}

// runUntil wakes and sends deliveries as the waker and the queue do, and moves the clock up to the given time.
func (p *multiEnv) runUntil(tb testing.TB, clock *testkit.Clock, until time.Time) {
	tb.Helper()
	waker := p.NewWaker()
	for {
		must.NoError(tb, waker.Once(tb.Context()))
		ids := must.Get(db.All(tb.Context(), p.db, scanText, `SELECT id FROM deliveries WHERE phase <> 'ended'
			AND not_before <= ? ORDER BY id`, db.Micros(clock.Now())))(tb)
		for _, id := range ids {
			must.NoError(tb, p.Deliver(tb.Context(), id))
		}
		var next sql.NullInt64
		must.NoError(tb, p.db.QueryRow(tb.Context(), `SELECT MIN(not_before) FROM deliveries
			WHERE phase <> 'ended'`).Scan(&next))
		at := db.Time(next.Int64).Add(time.Millisecond)
		if !next.Valid || at.After(until) {
			clock.Advance(max(0, until.Sub(clock.Now())))
			return
		}
		clock.Advance(max(time.Millisecond, at.Sub(clock.Now())))
	}
}

// checkPublishedOnce checks that the network has each post shown as published once, and no other post.
func (p *multiEnv) checkPublishedOnce(tb testing.TB, n *memoryNetwork) {
	tb.Helper()
	var published, others int
	err := p.db.QueryRow(tb.Context(), `SELECT COALESCE(SUM(CASE WHEN status = 'published' THEN 1
		ELSE 0 END), 0), COALESCE(SUM(CASE WHEN status = 'failed' THEN 1 ELSE 0 END), 0) FROM posts`).Scan(&published,
		&others)
	if err != nil || published != n.postCount() || n.maxCopies() > 1 {
		tb.Fatalf("%d shown as published, %d as failed, %d on the network: %v", published, others, n.postCount(), err)
	}
}

// A rejection with an uncertain outcome does not open the circuit, because the network answered.
func TestCircuitIgnoresUncertainRejections(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]CircuitState{http.StatusBadRequest: Closed, http.StatusRequestTimeout: Open,
		http.StatusBadGateway: Open, 0: Open} {
		clock := testkit.NewClock(noon)
		n := &memoryNetwork{platform: "bluesky", onCommit: func(context.Context) (bool, error) {
			return true, &network.Error{Class: network.OutcomeUnknown, Status: status, Code: "InvalidSwap"}
		}}
		p := newMultiEnv(t, testkit.Open(t, testkit.SQLite(t), clock), 1, DefaultOptions, n)
		p.scheduleDue(t, 0, 0, 12)
		must.NoError(t, p.NewWaker().Once(t.Context()))
		ids := must.Get(db.All(t.Context(), p.db, scanText, `SELECT id FROM deliveries ORDER BY id`))(t)
		for _, id := range ids {
			must.NoError(t, p.Deliver(t.Context(), id))
		}
		if got := p.Circuit("bluesky").State; got != want {
			t.Errorf("after status %d the circuit is %s, want %s", status, got, want)
		}
	}
}

// Each server has its own circuit. Failures of Bluesky's video service delay only deliveries that failed there.
func TestCircuitPerServer(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	s := &Service{breakers: newBreakers(clock.Now)}
	newAttempt := func(id string) *attempt {
		return &attempt{s: s, d: delivery{ID: id}, server: testServer, grant: account.Grant{Platform: testServer.platform}}
	}
	const host = "https://video.example"
	for i := range 2 * openAfterFailures {
		newAttempt(string(rune('a'+i))).reportCall(t.Context(), "prepare", &network.Error{Class: network.Transient, Host: host})
	}
	own, other := s.breakers.get(testServer), s.breakers.get(server{testServer.platform, host})
	if own != nil || other == nil || other.state(clock.Now()) != Open {
		t.Fatalf("account's server %+v, video service %+v", own, other)
	}
	if _, may := newAttempt("text").mayCall(); !may {
		t.Error("a post without a video has to wait")
	}
	wait, may := newAttempt("a").mayCall()
	if may || wait <= 0 {
		t.Errorf("a video may call: %t; wait %v", may, wait)
	}
	clock.Advance(wait)
	if _, may := newAttempt("b").mayCall(); !may {
		t.Error("the first video after the wait cannot probe")
	}
	if _, may := newAttempt("c").mayCall(); may {
		t.Error("two videos probe concurrently")
	}
	s.breakers.releaseProbes("b")
	if _, may := newAttempt("c").mayCall(); !may {
		t.Error("after an inconclusive probe, another video cannot probe")
	}
	newAttempt("text").reportCall(t.Context(), "prepare", nil) // a call to the account's server
	if s.breakers.get(server{testServer.platform, host}) == nil {
		t.Error("a post without a video closed the circuit")
	}
	newAttempt("c").reportCall(t.Context(), "prepare", nil)
	if _, may := newAttempt("a").mayCall(); !may {
		t.Error("the circuit stays open after an answer")
	}
}
