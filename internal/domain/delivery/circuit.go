package delivery

import (
	"slices"
	"sync"
	"time"
)

const (
	openAfter       = 5                // calls that failed in a row, of two deliveries at least
	openWithin      = time.Minute      // and in this time
	minOpenTime     = 2 * time.Second  // how long a circuit is open at first, doubling with every probe that fails
	maxOpenTime     = time.Minute      // and at most
	circuitIdleTime = 10 * time.Minute // after the last failure, as nobody sends anything there any more
)

// CircuitState says whether a network is given posts.
type CircuitState string

// The states of a circuit.
const (
	Closed   CircuitState = "closed"    // all is well
	HalfOpen CircuitState = "half_open" // one delivery tries whether the network is back, or the next one will
	Open     CircuitState = "open"      // the network fails: deliveries rest
)

// Circuit is how this node stands to a network. Where the network's accounts live on several servers, it is the worst
// of them.
type Circuit struct {
	State CircuitState
	Since time.Time // that it is not closed; zero where it is
}

// circuits keep deliveries from servers that fail, so that these neither use up their tries nor others' places. They
// are this node's own, in memory: a node that starts finds out anew.
type circuits struct {
	now func() time.Time

	mu       sync.Mutex
	byServer map[server]*circuit // those that something failed at since the last answer
}

// server is what fails or works as one: of most networks there is but one, of Bluesky's there are many.
type server struct{ platform, address string }

type circuit struct {
	failures    []failedCall // calls that failed since the last answer, while closed
	openedAt    time.Time    // opened; zero while closed
	probeAt     time.Time    // when one delivery may try
	openTime    time.Duration
	probe       string    // the delivery that tries
	lastFailure time.Time // last
}

type failedCall struct {
	delivery string
	at       time.Time
}

func newCircuits(now func() time.Time) *circuits {
	return &circuits{now: now, byServer: map[server]*circuit{}}
}

// allow tells whether a delivery may call a server, or else how long it should rest. The first to ask once a break is
// over is the probe: it ends by answered, failed or left.
func (c *circuits) allow(s server, delivery string) (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.get(s)
	switch {
	case of == nil || of.openedAt.IsZero() || of.probe == delivery:
		return 0, true
	case of.probe != "":
		return of.openTime, false
	}
	if wait := of.probeAt.Sub(c.now()); wait > 0 {
		return wait, false
	}
	of.probe = delivery
	return 0, true
}

// get finds what is known of a server; nil where all is well.
func (c *circuits) get(s server) *circuit {
	of := c.byServer[s]
	if of != nil && of.probe == "" && c.now().Sub(of.lastFailure) > circuitIdleTime {
		delete(c.byServer, s)
		return nil
	}
	return of
}

// recordAnswer says that a server took a post or gave a reason why not.
func (c *circuits) recordAnswer(s server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byServer, s)
}

// recordFailure says that a server gave no answer, or one that it is to blame for.
func (c *circuits) recordFailure(s server, delivery string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.get(s)
	if of == nil {
		of = &circuit{openTime: minOpenTime}
		c.byServer[s] = of
	}
	now := c.now()
	of.lastFailure = now
	switch {
	case of.openedAt.IsZero():
		if of.failures = append(of.failures, failedCall{delivery, now}); of.shouldOpen() {
			of.openedAt, of.probeAt, of.failures = now, now.Add(of.openTime), nil
		}
	case of.probe == delivery:
		of.openTime = min(maxOpenTime, 2*of.openTime)
		of.probeAt, of.probe = now.Add(of.openTime), ""
	}
}

// shouldOpen tells whether the last failures came quickly enough, and of more than one delivery: a post that a server
// stumbles over by itself must not keep the others from it.
func (of *circuit) shouldOpen() bool {
	of.failures = of.failures[max(0, len(of.failures)-openAfter):]
	first, last := of.failures[0], of.failures[len(of.failures)-1]
	return len(of.failures) == openAfter && last.at.Sub(first.at) <= openWithin &&
		slices.ContainsFunc(of.failures, func(m failedCall) bool { return m.delivery != first.delivery })
}

// releaseProbe says that a delivery's work has ended for now. A probe that learnt nothing leaves the try to the next one.
func (c *circuits) releaseProbe(s server, delivery string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of := c.byServer[s]; of != nil && of.probe == delivery {
		of.probe = ""
	}
}

func (of *circuit) state(now time.Time) CircuitState {
	switch {
	case of.openedAt.IsZero():
		return Closed
	case of.probe != "" || !now.Before(of.probeAt):
		return HalfOpen
	}
	return Open
}

// Circuit tells how this node stands to a network.
func (s *Service) Circuit(platform string) Circuit { return s.circuits.worst(platform) }

func (c *circuits) worst(platform string) Circuit {
	c.mu.Lock()
	defer c.mu.Unlock()
	worst := Circuit{State: Closed}
	for s := range c.byServer {
		of := c.get(s)
		if of == nil || s.platform != platform {
			continue
		}
		if state := of.state(c.now()); severity(state) > severity(worst.State) {
			worst = Circuit{state, of.openedAt}
		}
	}
	return worst
}

// CircuitStates are all states, from good to bad.
func CircuitStates() []CircuitState { return []CircuitState{Closed, HalfOpen, Open} }

func severity(s CircuitState) int { return slices.Index(CircuitStates(), s) }
