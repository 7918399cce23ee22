package delivery

import (
	"slices"
	"sync"
	"time"
)

const (
	fallsAfter  = 5                // calls that failed in a row, of two deliveries at least
	fallsWithin = time.Minute      // and in this time
	firstBreak  = 2 * time.Second  // how long a circuit is open at first, doubling with every probe that fails
	lastBreak   = time.Minute      // and at most
	forgotten   = 10 * time.Minute // after the last failure, as nobody sends anything there any more
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

	mu sync.Mutex
	by map[server]*circuit // those that something failed at since the last answer
}

// server is what fails or works as one: of most networks there is but one, of Bluesky's there are many.
type server struct{ platform, address string }

type circuit struct {
	run    []miss    // calls that failed since the last answer, while closed
	since  time.Time // opened; zero while closed
	until  time.Time // when one delivery may try
	breaks time.Duration
	probe  string    // the delivery that tries
	failed time.Time // last
}

type miss struct {
	delivery string
	at       time.Time
}

func newCircuits(now func() time.Time) *circuits {
	return &circuits{now: now, by: map[server]*circuit{}}
}

// admits tells whether a delivery may call a server, or else how long it should rest. The first to ask once a break is
// over is the probe: it ends by answered, failed or left.
func (c *circuits) admits(s server, delivery string) (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.at(s)
	switch {
	case of == nil || of.since.IsZero() || of.probe == delivery:
		return 0, true
	case of.probe != "":
		return of.breaks, false
	}
	if wait := of.until.Sub(c.now()); wait > 0 {
		return wait, false
	}
	of.probe = delivery
	return 0, true
}

// at finds what is known of a server; nil where all is well.
func (c *circuits) at(s server) *circuit {
	of := c.by[s]
	if of != nil && of.probe == "" && c.now().Sub(of.failed) > forgotten {
		delete(c.by, s)
		return nil
	}
	return of
}

// answered says that a server took a post or gave a reason why not.
func (c *circuits) answered(s server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.by, s)
}

// failed says that a server gave no answer, or one that it is to blame for.
func (c *circuits) failed(s server, delivery string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.at(s)
	if of == nil {
		of = &circuit{breaks: firstBreak}
		c.by[s] = of
	}
	now := c.now()
	of.failed = now
	switch {
	case of.since.IsZero():
		if of.run = append(of.run, miss{delivery, now}); of.falls() {
			of.since, of.until, of.run = now, now.Add(of.breaks), nil
		}
	case of.probe == delivery:
		of.breaks = min(lastBreak, 2*of.breaks)
		of.until, of.probe = now.Add(of.breaks), ""
	}
}

// falls tells whether the last failures came quickly enough, and of more than one delivery: a post that a server
// stumbles over by itself must not keep the others from it.
func (of *circuit) falls() bool {
	of.run = of.run[max(0, len(of.run)-fallsAfter):]
	first, last := of.run[0], of.run[len(of.run)-1]
	return len(of.run) == fallsAfter && last.at.Sub(first.at) <= fallsWithin &&
		slices.ContainsFunc(of.run, func(m miss) bool { return m.delivery != first.delivery })
}

// left says that a delivery's work has ended for now. A probe that learnt nothing leaves the try to the next one.
func (c *circuits) left(s server, delivery string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of := c.by[s]; of != nil && of.probe == delivery {
		of.probe = ""
	}
}

func (of *circuit) state(now time.Time) CircuitState {
	switch {
	case of.since.IsZero():
		return Closed
	case of.probe != "" || !now.Before(of.until):
		return HalfOpen
	}
	return Open
}

// Circuit tells how this node stands to a network.
func (s *Service) Circuit(platform string) Circuit { return s.circuits.of(platform) }

func (c *circuits) of(platform string) Circuit {
	c.mu.Lock()
	defer c.mu.Unlock()
	worst := Circuit{State: Closed}
	for s := range c.by {
		of := c.at(s)
		if of == nil || s.platform != platform {
			continue
		}
		if state := of.state(c.now()); severity(state) > severity(worst.State) {
			worst = Circuit{state, of.since}
		}
	}
	return worst
}

// CircuitStates are all states, from good to bad.
func CircuitStates() []CircuitState { return []CircuitState{Closed, HalfOpen, Open} }

func severity(s CircuitState) int { return slices.Index(CircuitStates(), s) }
