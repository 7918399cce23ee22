package delivery

import (
	"slices"
	"sync"
	"time"
)

const (
	openAfter       = 5                // failed calls in a row, of at least two deliveries
	openWithin      = time.Minute      // within this time
	minOpenTime     = 2 * time.Second  // until the first probe; doubles with each failed one
	maxOpenTime     = time.Minute      // longest time between probes
	circuitIdleTime = 10 * time.Minute // after the last failure
)

// CircuitState is the state of a circuit.
type CircuitState string

// The states of a circuit.
const (
	Closed   CircuitState = "closed"    // all deliveries are sent
	HalfOpen CircuitState = "half_open" // one delivery probes the network, or the next one will
	Open     CircuitState = "open"      // the network fails; deliveries wait
)

// Circuit is the state of this node's circuit for a network: of the worst server, if there are several.
type Circuit struct {
	State CircuitState
	Since time.Time // when it opened; zero if closed
}

// circuits hold back deliveries to servers that fail, so that they use up neither attempts nor workers. They are in
// memory and per node.
type circuits struct {
	now func() time.Time

	mu       sync.Mutex
	byServer map[server]*circuit // with a failure since the last answer
}

// server is the unit of failure: most networks have one, Bluesky has many.
type server struct{ platform, address string }

// circuit is the state of one server.
type circuit struct {
	failures    []failedCall    // since the last answer, while closed
	failed      map[string]bool // deliveries with a failed call since the last answer
	openedAt    time.Time       // zero while closed
	probeAt     time.Time       // when the next probe may start
	openTime    time.Duration
	probe       string    // the delivery that probes
	lastFailure time.Time // last
}

// failedCall is a failed call of a delivery.
type failedCall struct {
	delivery string
	at       time.Time
}

func newCircuits(now func() time.Time) *circuits {
	return &circuits{now: now, byServer: map[server]*circuit{}}
}

// allow reports whether a delivery may call a server, and otherwise how long it should wait. The first caller
// after the wait becomes the probe until recordAnswer, recordFailure or releaseProbes.
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

// get returns the circuit of a server, or nil if it has no failures.
func (c *circuits) get(s server) *circuit {
	of := c.byServer[s]
	if of != nil && of.probe == "" && c.now().Sub(of.lastFailure) > circuitIdleTime {
		delete(c.byServer, s)
		return nil
	}
	return of
}

// recordAnswer records that a server accepted a post or refused it with a reason. It closes the circuit.
func (c *circuits) recordAnswer(s server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byServer, s)
}

// recordFailure records that a server gave no answer or a server error.
func (c *circuits) recordFailure(s server, delivery string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.get(s)
	if of == nil {
		of = &circuit{openTime: minOpenTime, failed: map[string]bool{}}
		c.byServer[s] = of
	}
	now := c.now()
	of.lastFailure, of.failed[delivery] = now, true
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

// shouldOpen reports whether the recent failures were frequent and of several deliveries: a single post that crashes a
// server must not block the others.
func (of *circuit) shouldOpen() bool {
	of.failures = of.failures[max(0, len(of.failures)-openAfter):]
	first, last := of.failures[0], of.failures[len(of.failures)-1]
	return len(of.failures) == openAfter && last.at.Sub(first.at) <= openWithin &&
		slices.ContainsFunc(of.failures, func(m failedCall) bool { return m.delivery != first.delivery })
}

// releaseProbes ends a delivery's attempt. A probe without a result leaves its place to the next one.
func (c *circuits) releaseProbes(delivery string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range c.byServer {
		if of.probe == delivery {
			of.probe = ""
		}
	}
}

// failedElsewhere returns the servers of the platform, other than the account's, at which a call of the delivery failed.
func (c *circuits) failedElsewhere(home server, delivery string) []server {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []server
	for s, of := range c.byServer {
		if s.platform == home.platform && s != home && of.failed[delivery] {
			out = append(out, s)
		}
	}
	return out
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

// Circuit returns the state of this node's circuit for a network.
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

// CircuitStates returns all states, from good to bad.
func CircuitStates() []CircuitState { return []CircuitState{Closed, HalfOpen, Open} }

func severity(s CircuitState) int { return slices.Index(CircuitStates(), s) }
