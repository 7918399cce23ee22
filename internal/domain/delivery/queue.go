package delivery

import (
	"cmp"
	"sync"
)

// maxWaiting bounds the deliveries that wait in a node's memory. One that finds no room is woken again by its record.
const maxWaiting = 10_000

// boarding is a delivery that waits for its turn.
type boarding struct {
	id       string
	platform string
	team     int64
}

// pace says which of the waiting deliveries goes next, so that neither a network that is slow nor a team that sends
// much holds up the others. The network with the fewest under way goes first, and of its teams the one with the fewest:
// a team alone may have all of its network's places, and gets no further one while another has less and waits.
type pace struct {
	flights int // at once, in all
	each    int // at once, to one network

	mu      sync.Mutex
	moved   chan struct{} // holds one: something came, or a place is free
	idle    chan struct{} // closed once nothing is under way and nothing starts any more
	closed  bool
	waiting map[string]bool
	lanes   map[string]*lane // by platform
	flying  int
	turns   uint64
}

// lane is what waits for and goes to one network.
type lane struct {
	queue
	teams map[int64]*line
}

// line is what waits for and goes to one network from one team.
type line struct {
	queue
	ids []string // in the order in which they were woken
}

// queue is what lanes and lines are compared by.
type queue struct {
	flying  int
	waiting int
	served  uint64 // the turn in which it was served last
}

func (q *queue) before(other *queue) bool {
	return cmp.Or(cmp.Compare(q.flying, other.flying), cmp.Compare(q.served, other.served)) < 0
}

func (q *queue) serve(turn uint64) {
	q.waiting--
	q.flying++
	q.served = turn
}

func newPace(flights, each int) *pace {
	return &pace{flights: flights, each: each, moved: make(chan struct{}, 1), idle: make(chan struct{}), waiting: map[string]bool{}, lanes: map[string]*lane{}}
}

func (p *pace) signal() {
	select {
	case p.moved <- struct{}{}:
	default:
	}
}

// waits tells whether a delivery waits here already.
func (p *pace) waits(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting[id]
}

// add has a delivery wait, once.
func (p *pace) add(b boarding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.waiting[b.id] || len(p.waiting) >= maxWaiting {
		return
	}
	of := p.lanes[b.platform]
	if of == nil {
		of = &lane{teams: map[int64]*line{}}
		p.lanes[b.platform] = of
	}
	in := of.teams[b.team]
	if in == nil {
		in = &line{}
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
func (p *pace) next() (boarding, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.flying >= p.flights {
		return boarding{}, false
	}
	var b boarding
	var of *lane
	for platform, l := range p.lanes {
		if l.waiting > 0 && l.flying < p.each && (of == nil || l.before(&of.queue)) {
			b.platform, of = platform, l
		}
	}
	if of == nil {
		return b, false
	}
	var in *line
	for team, l := range of.teams {
		if l.waiting > 0 && (in == nil || l.before(&in.queue)) {
			b.team, in = team, l
		}
	}
	b.id, in.ids = in.ids[0], in.ids[1:]
	delete(p.waiting, b.id)
	p.turns++
	p.flying++
	of.serve(p.turns)
	in.serve(p.turns)
	return b, true
}

// landed gives a place back.
func (p *pace) landed(b boarding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.lanes[b.platform]
	in := of.teams[b.team]
	p.flying--
	of.flying--
	in.flying--
	if in.flying == 0 && in.waiting == 0 {
		delete(of.teams, b.team)
	}
	p.ended()
	p.signal()
}

// close lets nothing start any more. What waits is woken again, by another node or after the next start.
func (p *pace) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		p.ended()
	}
}

// ended closes idle once nothing is under way nor will be.
func (p *pace) ended() {
	if p.closed && p.flying == 0 {
		close(p.idle)
	}
}

// under tells how many deliveries are under way to each network that had any.
func (p *pace) under() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make(map[string]int, len(p.lanes))
	for platform, l := range p.lanes {
		out[platform] = l.flying
	}
	return out
}
