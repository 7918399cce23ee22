package delivery

import (
	"cmp"
	"sync"
)

// maxQueued bounds the deliveries that wait in memory. The waker wakes one that found no place again.
const maxQueued = 10_000

// queued is a delivery that waits for its turn.
type queued struct {
	id       string
	platform string
	team     int64
}

// fairQueue decides which delivery runs next, so that neither a slow network nor a busy team delays the others. It
// picks the network with the fewest running deliveries, and within it the team with the fewest. A team without
// competition may use all slots of its network.
type fairQueue struct {
	maxRunning    int // at once
	maxPerNetwork int // at once, for one network

	mu       sync.Mutex
	changed  chan struct{} // buffered signal: a delivery arrived or a place is free
	idle     chan struct{} // closed when the queue is closed and nothing runs
	closed   bool
	waiting  map[string]bool
	networks map[string]*networkQueue // by platform
	running  int
	turns    uint64
}

// networkQueue holds the deliveries to one network.
type networkQueue struct {
	share
	teams map[int64]*teamQueue
}

// teamQueue holds the deliveries of one team to one network.
type teamQueue struct {
	share
	ids []string // in the order of their wakes
}

// share is what networks and teams are compared by.
type share struct {
	running  int
	waiting  int
	lastTurn uint64 // the turn that it last had
}

// before reports whether q is next: fewer running deliveries first, then the longest wait.
func (q *share) before(other *share) bool {
	return cmp.Or(cmp.Compare(q.running, other.running), cmp.Compare(q.lastTurn, other.lastTurn)) < 0
}

func (q *share) start(turn uint64) {
	q.waiting--
	q.running++
	q.lastTurn = turn
}

func newFairQueue(flights, each int) *fairQueue {
	return &fairQueue{maxRunning: flights, maxPerNetwork: each, changed: make(chan struct{}, 1),
		idle: make(chan struct{}), waiting: map[string]bool{}, networks: map[string]*networkQueue{}}
}

func (p *fairQueue) signal() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// contains reports whether a delivery waits in the queue.
func (p *fairQueue) contains(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting[id]
}

// add appends a delivery, once.
func (p *fairQueue) add(b queued) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.waiting[b.id] || len(p.waiting) >= maxQueued {
		return
	}
	of := p.networks[b.platform]
	if of == nil {
		of = &networkQueue{teams: map[int64]*teamQueue{}}
		p.networks[b.platform] = of
	}
	in := of.teams[b.team]
	if in == nil {
		in = &teamQueue{}
		of.teams[b.team] = in
	}
	p.waiting[b.id] = true
	of.waiting++
	in.waiting++
	in.ids = append(in.ids, b.id)
	p.signal()
}

// next removes and returns the delivery that runs next. It reports false if the queue is empty or no slot is free. The
// caller must call release after the work.
func (p *fairQueue) next() (queued, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.running >= p.maxRunning {
		return queued{}, false
	}
	var b queued
	var of *networkQueue
	for platform, l := range p.networks {
		if l.waiting > 0 && l.running < p.maxPerNetwork && (of == nil || l.before(&of.share)) {
			b.platform, of = platform, l
		}
	}
	if of == nil {
		return b, false
	}
	var in *teamQueue
	for team, l := range of.teams {
		if l.waiting > 0 && (in == nil || l.before(&in.share)) {
			b.team, in = team, l
		}
	}
	b.id, in.ids = in.ids[0], in.ids[1:]
	delete(p.waiting, b.id)
	p.turns++
	p.running++
	of.start(p.turns)
	in.start(p.turns)
	return b, true
}

// release frees a place.
func (p *fairQueue) release(b queued) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.networks[b.platform]
	in := of.teams[b.team]
	p.running--
	of.running--
	in.running--
	if in.running == 0 && in.waiting == 0 {
		delete(of.teams, b.team)
	}
	p.closeIdle()
	p.signal()
}

// close stops the queue from starting deliveries. The waker of another node, or of the next start, wakes what
// still waits.
func (p *fairQueue) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		p.closeIdle()
	}
}

// closeIdle closes idle when the queue is closed and nothing runs.
func (p *fairQueue) closeIdle() {
	if p.closed && p.running == 0 {
		close(p.idle)
	}
}

// runningByNetwork returns the number of running deliveries by platform.
func (p *fairQueue) runningByNetwork() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make(map[string]int, len(p.networks))
	for platform, l := range p.networks {
		out[platform] = l.running
	}
	return out
}
