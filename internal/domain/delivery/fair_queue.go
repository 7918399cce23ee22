package delivery

import (
	"cmp"
	"sync"
)

// maxQueued bounds the deliveries that wait in a node's memory. One that finds no room is woken again by its record.
const maxQueued = 10_000

// queued is a delivery that waits for its turn.
type queued struct {
	id       string
	platform string
	team     int64
}

// fairQueue says which of the waiting deliveries goes next, so that neither a network that is slow nor a team that sends
// much holds up the others. The network with the fewest under way goes first, and of its teams the one with the fewest:
// a team alone may have all of its network's places, and gets no further one while another has less and waits.
type fairQueue struct {
	maxRunning    int // at once, in all
	maxPerNetwork int // at once, to one network

	mu       sync.Mutex
	changed  chan struct{} // holds one: something came, or a place is free
	idle     chan struct{} // closed once nothing is under way and nothing starts any more
	closed   bool
	waiting  map[string]bool
	networks map[string]*networkQueue // by platform
	running  int
	turns    uint64
}

// networkQueue is what waits for and goes to one network.
type networkQueue struct {
	share
	teams map[int64]*teamQueue
}

// teamQueue is what waits for and goes to one network from one team.
type teamQueue struct {
	share
	ids []string // in the order in which they were woken
}

// share is what lanes and lines are compared by.
type share struct {
	running  int
	waiting  int
	lastTurn uint64 // the turn in which it was served last
}

func (q *share) before(other *share) bool {
	return cmp.Or(cmp.Compare(q.running, other.running), cmp.Compare(q.lastTurn, other.lastTurn)) < 0
}

func (q *share) start(turn uint64) {
	q.waiting--
	q.running++
	q.lastTurn = turn
}

func newFairQueue(flights, each int) *fairQueue {
	return &fairQueue{maxRunning: flights, maxPerNetwork: each, changed: make(chan struct{}, 1), idle: make(chan struct{}), waiting: map[string]bool{}, networks: map[string]*networkQueue{}}
}

func (p *fairQueue) signal() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// contains tells whether a delivery waits here already.
func (p *fairQueue) contains(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting[id]
}

// add has a delivery wait, once.
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

// next takes the delivery whose turn it is, where a place is free for one. Whoever takes it tells by landed when the
// work has ended.
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

// release gives a place back.
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

// close lets nothing start any more. What waits is woken again, by another node or after the next start.
func (p *fairQueue) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		p.closeIdle()
	}
}

// closeIdle closes idle once nothing is under way nor will be.
func (p *fairQueue) closeIdle() {
	if p.closed && p.running == 0 {
		close(p.idle)
	}
}

// runningByNetwork tells how many deliveries are under way to each network that had any.
func (p *fairQueue) runningByNetwork() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make(map[string]int, len(p.networks))
	for platform, l := range p.networks {
		out[platform] = l.running
	}
	return out
}
