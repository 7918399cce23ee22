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

// openCircuit opens a circuit at once.
func openCircuit(c *circuits) {
	for range openAfterFailures - 1 {
		c.recordFailure(testServer, "a")
	}
	c.recordFailure(testServer, "b")
}

func TestCircuitOpens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		happens func(c *circuits, clock *testkit.Clock)
		want    CircuitState
	}{
		"five failures of two deliveries": {func(c *circuits, _ *testkit.Clock) { openCircuit(c) }, Open},
		"five failures of one delivery": {func(c *circuits, _ *testkit.Clock) {
			openCircuit(c)
			c.recordAnswer(testServer)
			for range 9 {
				c.recordFailure(testServer, "a")
			}
		}, Closed},
		"success between failures": {func(c *circuits, _ *testkit.Clock) {
			c.recordFailure(testServer, "a")
			c.recordAnswer(testServer)
			for range 4 {
				c.recordFailure(testServer, "b")
			}
		}, Closed},
		"over more than a minute": {func(c *circuits, clock *testkit.Clock) {
			for _, id := range []string{"a", "b", "a", "b", "a", "b", "a"} {
				c.recordFailure(testServer, id)
				clock.Advance(16 * time.Second)
			}
		}, Closed},
		"another server of the network fails": {func(c *circuits, _ *testkit.Clock) {
			openCircuit(c)
			c.recordAnswer(server{"bluesky", "https://two.example"})
		}, Open},
	} {
		clock := testkit.NewClock(noon)
		of := newCircuits(clock.Now)
		c.happens(of, clock)
		if got := of.worst("bluesky").State; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Calls blocked by our own guard neither open nor close a circuit.
func TestCircuitIgnoresBlockedCalls(t *testing.T) {
	t.Parallel()
	s := &Service{circuits: newCircuits(testkit.NewClock(noon).Now)}
	barred := func() {
		for n := range 3 * openAfterFailures {
			f := &attempt{s: s, d: delivery{ID: string(rune('a' + n))}, server: testServer}
			for _, call := range []string{"prepare", "commit"} {
				f.reportCall(t.Context(), call, &network.Error{Class: network.HostBlocked})
			}
		}
	}
	barred()
	if got := s.Circuit("bluesky").State; got != Closed {
		t.Errorf("the circuit is %s", got)
	}
	openCircuit(s.circuits)
	barred()
	if got := s.Circuit("bluesky").State; got != Open {
		t.Errorf("an open circuit is %s", got)
	}
}

// A circuit is open ever longer while its probes fail, lets one delivery try at a time, and closes with a success.
func TestCircuitProbes(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	c := newCircuits(clock.Now)
	openCircuit(c)
	for _, seconds := range []int{2, 4, 8, 16, 32, 60, 60} {
		breaks := time.Duration(seconds) * time.Second
		wait, may := c.allow(testServer, "b")
		if may || wait != breaks || c.worst("bluesky") != (Circuit{Open, noon}) {
			t.Fatalf("waits %v: %t, want %v; %+v", wait, may, breaks, c.worst("bluesky"))
		}
		clock.Advance(wait)
		// on a node without deliveries the circuit stays half-open
		if c.worst("bluesky") != (Circuit{HalfOpen, noon}) {
			t.Fatalf("after the break the circuit is %+v", c.worst("bluesky"))
		}
		if _, may := c.allow(testServer, "left"); !may || c.worst("bluesky").State != HalfOpen {
			t.Fatal("no delivery may probe after the break")
		}
		c.releaseProbes("left") // the probe was inconclusive
		if _, may := c.allow(testServer, "probe"); !may {
			t.Fatal("the released probe is not available to the next delivery")
		}
		if _, may := c.allow(testServer, "probe"); !may {
			t.Fatal("the probing delivery was blocked")
		}
		if wait, may := c.allow(testServer, "other"); may || wait != breaks {
			t.Fatalf("another delivery may call: %t, or waits %v", may, wait)
		}
		c.recordFailure(testServer, "late") // of a call made before
		c.recordFailure(testServer, "probe")
	}
	clock.Advance(maxOpenTime)
	c.allow(testServer, "probe")
	clock.Advance(2 * circuitIdleTime)
	if c.worst("bluesky").State != HalfOpen {
		t.Error("a slow probe was forgotten")
	}
	c.recordAnswer(testServer)
	if _, may := c.allow(testServer, "other"); !may || c.worst("bluesky") != (Circuit{State: Closed}) ||
		len(c.byServer) != 0 {
		t.Errorf("after a success: %t, %+v", may, c.worst("bluesky"))
	}
	openCircuit(c)
	clock.Advance(2 * circuitIdleTime)
	if c.worst("bluesky") != (Circuit{State: Closed}) || len(c.byServer) != 0 {
		t.Errorf("long after the last delivery: %+v", c.worst("bluesky"))
	}
}

var errDown = &network.Error{Class: network.Transient, Status: 503}

// A post that is due during an outage is published once afterwards, without using up its attempts.
func TestPublishAfterOutage(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		back := noon.Add(20 * time.Minute)
		n := &memoryNetwork{platform: "bluesky"}
		n.commits = func(context.Context) (bool, error) {
			if clock.Now().Before(back) {
				return false, errDown
			}
			return true, nil
		}
		p := newMultiEnv(t, testkit.Open(t, url, clock), 2, DefaultOptions, n)
		p.scheduleDue(t, 0, 0, 1)
		p.runUntil(t, clock, noon.Add(12*time.Second)) // separately, to use up most of its attempts
		p.scheduleDue(t, 0, 0, 5)
		p.scheduleDue(t, 1, 0, 5)
		p.runUntil(t, clock, noon.Add(10*time.Minute))
		if got := p.Circuit("bluesky"); got.State != Open {
			t.Fatalf("while it is down: %+v", got)
		}
		p.runUntil(t, clock, noon.Add(25*time.Minute))
		if n.count() != 11 || n.most() != 1 || p.countOpen(t) != 0 || p.Circuit("bluesky").State != Closed {
			t.Errorf("%d held, one %d times, %d open, %+v", n.count(), n.most(), p.countOpen(t), p.Circuit("bluesky"))
		}
		p.checkOnce(t, n)
	})
}

// A post waits at most half an hour for a circuit. Then it fails, and its history has the reason.
func TestCircuitWaitLimit(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		n := &memoryNetwork{platform: "bluesky", commits: func(context.Context) (bool, error) { return false, errDown }}
		p := newMultiEnv(t, testkit.Open(t, url, clock), 1, DefaultOptions, n)
		p.scheduleDue(t, 0, 0, 5)
		for range 12 { // repeated failures use up its attempts
			openCircuit(p.circuits)
			p.runUntil(t, clock, clock.Now().Add(3*time.Minute))
		}
		if p.countOpen(t) != 0 || n.count() != 0 {
			t.Fatalf("%d open, %d held", p.countOpen(t), n.count())
		}
		p.checkOnce(t, n)
		var post string
		must.NoError(t, p.db.QueryRow(t.Context(), `SELECT post_id FROM deliveries WHERE error_code = 'network_error'
			AND tries < ? ORDER BY id LIMIT 1`, maxTries).Scan(&post))
		story, err := p.Attempts(t.Context(), p.calls[0].TeamID, post)
		if err != nil || !slices.ContainsFunc(story, func(l AttemptLine) bool {
			return l.Call == callWait && l.Result == resultGaveUp && l.EndedAt.Sub(l.At) >= maxOutageWait
		}) {
			t.Errorf("%+v, %v", story, err)
		}
	})
}

// With many concurrent deliveries, circuits and any network behavior, no post is published twice or lost, and the
// displayed result is right.
func TestCircuitsNeverPublishTwice(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	n := &memoryNetwork{platform: "bluesky"}
	p := newMultiEnv(t, testkit.Open(t, testkit.SQLite(t), clock), 1, DefaultOptions, n)
	rapid.Check(t, func(rt *rapid.T) {
		does := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 60).Draw(rt, "does")
		n.commits = func(context.Context) (bool, error) {
			next := 0
			if len(does) > 0 {
				next, does = does[0], does[1:]
			}
			switch next {
			case 1:
				return true, &network.Error{Class: network.Uncertain}
			case 2:
				return false, &network.Error{Class: network.Uncertain}
			case 3, 4, 5:
				return false, errDown
			}
			return true, nil
		}
		p.scheduleDue(t, 0, 0, rapid.IntRange(1, 12).Draw(rt, "posts"))
		p.runUntil(t, clock, clock.Now().Add(2*time.Hour))
		if p.countOpen(t) != 0 || n.most() > 1 {
			rt.Fatalf("%d open, one held %d times", p.countOpen(t), n.most())
		}
		p.checkOnce(t, n)
	})
}

// runUntil works like the queue and the waker, moving the clock from wake to wake up to the given time.
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

// checkOnce checks that exactly the posts shown as published exist, once.
func (p *multiEnv) checkOnce(tb testing.TB, n *memoryNetwork) {
	tb.Helper()
	var published, others int
	err := p.db.QueryRow(tb.Context(), `SELECT COALESCE(SUM(CASE WHEN status = 'published' THEN 1
		ELSE 0 END), 0), COALESCE(SUM(CASE WHEN status = 'failed' THEN 1 ELSE 0 END), 0) FROM posts`).Scan(&published,
		&others)
	if err != nil || published != n.count() || n.most() > 1 {
		tb.Fatalf("%d published, %d failed, %d held: %v", published, others, n.count(), err)
	}
}

// A refusal shows that the network works, even if it leaves the outcome open: the circuit stays closed.
func TestCircuitIgnoresUncertainRefusals(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]CircuitState{http.StatusBadRequest: Closed, http.StatusRequestTimeout: Open,
		http.StatusBadGateway: Open, 0: Open} {
		clock := testkit.NewClock(noon)
		n := &memoryNetwork{platform: "bluesky", commits: func(context.Context) (bool, error) {
			return true, &network.Error{Class: network.Uncertain, Status: status, Code: "InvalidSwap"}
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

// Failures of another server than the account's, such as Bluesky's video service, hold back only the deliveries that
// failed there, with a circuit of its own.
func TestCircuitOfAnotherServer(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	s := &Service{circuits: newCircuits(clock.Now)}
	of := func(id string) *attempt {
		return &attempt{s: s, d: delivery{ID: id}, server: testServer, grant: account.Grant{Platform: testServer.platform}}
	}
	const host = "https://video.example"
	for i := range 2 * openAfterFailures {
		of(string(rune('a'+i))).reportCall(t.Context(), "prepare", &network.Error{Class: network.Transient, Host: host})
	}
	home, other := s.circuits.get(testServer), s.circuits.get(server{testServer.platform, host})
	if home != nil || other == nil || other.state(clock.Now()) != Open {
		t.Fatalf("home %+v, other %+v", home, other)
	}
	if _, may := of("text").mayCall(); !may {
		t.Error("a post without a video waits")
	}
	wait, may := of("a").mayCall()
	if may || wait <= 0 {
		t.Errorf("a video may call: %v, %v", may, wait)
	}
	clock.Advance(wait)
	if _, may := of("b").mayCall(); !may {
		t.Error("no video probes the service")
	}
	if _, may := of("c").mayCall(); may {
		t.Error("two videos probe the service")
	}
	s.circuits.releaseProbes("b")
	if _, may := of("c").mayCall(); !may {
		t.Error("the slot of a finished probe is not free")
	}
	of("text").reportCall(t.Context(), "prepare", nil) // does not concern the video service
	if s.circuits.get(server{testServer.platform, host}) == nil {
		t.Error("a post without a video closed the circuit")
	}
	of("c").reportCall(t.Context(), "prepare", nil)
	if _, may := of("a").mayCall(); !may {
		t.Error("the circuit stays open after an answer")
	}
}
