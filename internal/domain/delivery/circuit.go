package delivery

import (
	"slices"
	"sync"
	"time"
)

const (
	openAfterFailures = 5                // consecutive failed calls that open a circuit, from at least two deliveries
	failureWindow     = time.Minute      // period in which these calls must fail
	minOpenTime       = 2 * time.Second  // time until the first probe; doubles with each failed probe
	maxOpenTime       = time.Minute      // maximum time between probes
	circuitIdleTime   = 10 * time.Minute // time after the last failure until a circuit is forgotten
)

// CircuitState is the state of a circuit.
type CircuitState string

// The states of a circuit.
const (
	Closed   CircuitState = "closed"    // all deliveries are sent
	HalfOpen CircuitState = "half_open" // one delivery tests whether the network works again
	Open     CircuitState = "open"      // the network fails; deliveries wait
)

// Circuit is the state of this node's circuit breaker for a network. If the network has several servers, it is the
// worst state among them.
type Circuit struct {
	State CircuitState
	Since time.Time // when it opened; zero if closed
}

// breakers holds this node's circuit breakers, in memory. They delay deliveries to failing servers, so that the
// deliveries do not use up attempts and workers.
type breakers struct {
	now func() time.Time

	mu       sync.Mutex
	byServer map[server]*breaker // servers with a failure since they last worked
}

// server identifies a server of a network. Most networks have one server, but Bluesky has many.
type server struct{ platform, address string }

// breaker is the circuit breaker of a server.
type breaker struct {
	failures         []failedCall    // since the server last worked; nil while open
	failedDeliveries map[string]bool // IDs of deliveries with a failed call since the server last worked
	openedAt         time.Time       // zero while closed
	probeAt          time.Time       // when the next probe may start
	openTime         time.Duration
	probe            string // ID of the delivery that probes the server; empty if there is none
	lastFailure      time.Time
}

// failedCall is a failed call of a delivery.
type failedCall struct {
	delivery string
	at       time.Time
}

func newBreakers(now func() time.Time) *breakers {
	return &breakers{now: now, byServer: map[server]*breaker{}}
}

// allow reports whether a delivery may call a server. If not, it returns how long to wait. The first caller after the
// wait becomes the probe until recordResponse, recordFailure or releaseProbes is called.
func (bs *breakers) allow(s server, delivery string) (time.Duration, bool) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	b := bs.get(s)
	switch {
	case b == nil || b.openedAt.IsZero() || b.probe == delivery:
		return 0, true
	case b.probe != "":
		return b.openTime, false
	}
	if wait := b.probeAt.Sub(bs.now()); wait > 0 {
		return wait, false
	}
	b.probe = delivery
	return 0, true
}

// get returns the circuit of a server, or nil if the server has no recent failures.
func (bs *breakers) get(s server) *breaker {
	b := bs.byServer[s]
	if b != nil && b.probe == "" && bs.now().Sub(b.lastFailure) > circuitIdleTime {
		delete(bs.byServer, s)
		return nil
	}
	return b
}

// recordResponse records that a server accepted or rejected a request. It closes the circuit.
func (bs *breakers) recordResponse(s server) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	delete(bs.byServer, s)
}

// recordFailure records that a server did not respond or returned a server error.
func (bs *breakers) recordFailure(s server, delivery string) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	b := bs.get(s)
	if b == nil {
		b = &breaker{openTime: minOpenTime, failedDeliveries: map[string]bool{}}
		bs.byServer[s] = b
	}
	now := bs.now()
	b.lastFailure, b.failedDeliveries[delivery] = now, true
	switch {
	case b.openedAt.IsZero():
		if b.failures = append(b.failures, failedCall{delivery, now}); b.shouldOpen() {
			b.openedAt, b.probeAt, b.failures = now, now.Add(b.openTime), nil
		}
	case b.probe == delivery:
		b.openTime = min(maxOpenTime, 2*b.openTime)
		b.probeAt, b.probe = now.Add(b.openTime), ""
	}
}

// shouldOpen reports whether the recent failures are frequent and come from several deliveries. A single post that
// crashes a server must not block other posts.
func (b *breaker) shouldOpen() bool {
	b.failures = b.failures[max(0, len(b.failures)-openAfterFailures):]
	first, last := b.failures[0], b.failures[len(b.failures)-1]
	return len(b.failures) == openAfterFailures && last.at.Sub(first.at) <= failureWindow &&
		slices.ContainsFunc(b.failures, func(f failedCall) bool { return f.delivery != first.delivery })
}

// releaseProbes is called when an attempt ends. If the attempt was a probe without a result, another delivery can
// become the probe.
func (bs *breakers) releaseProbes(delivery string) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	for _, b := range bs.byServer {
		if b.probe == delivery {
			b.probe = ""
		}
	}
}

// otherFailedServers returns the platform's servers on which a call of the delivery failed, except the account's own
// server.
func (bs *breakers) otherFailedServers(current server, delivery string) []server {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	var out []server
	for s, b := range bs.byServer {
		if s.platform == current.platform && s != current && b.failedDeliveries[delivery] {
			out = append(out, s)
		}
	}
	return out
}

func (b *breaker) state(now time.Time) CircuitState {
	switch {
	case b.openedAt.IsZero():
		return Closed
	case b.probe != "" || !now.Before(b.probeAt):
		return HalfOpen
	}
	return Open
}

// Circuit returns the state of this node's circuit for a network.
func (s *Service) Circuit(platform string) Circuit { return s.breakers.worstCircuit(platform) }

func (bs *breakers) worstCircuit(platform string) Circuit {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	worst := Circuit{State: Closed}
	for s := range bs.byServer {
		b := bs.get(s)
		if b == nil || s.platform != platform {
			continue
		}
		if state := b.state(bs.now()); severity(state) > severity(worst.State) {
			worst = Circuit{state, b.openedAt}
		}
	}
	return worst
}

// CircuitStates returns all states, from best to worst.
func CircuitStates() []CircuitState { return []CircuitState{Closed, HalfOpen, Open} }

func severity(s CircuitState) int { return slices.Index(CircuitStates(), s) }
