package delivery

import (
	"cmp"
	"sync"
)

// maxQueued is the maximum number of deliveries that wait in memory. The waker wakes rejected deliveries again later.
const maxQueued = 10_000

// queuedDelivery is a delivery that waits in a fairQueue.
type queuedDelivery struct {
	id       string
	platform string
	team     int64
}

// fairQueue decides which delivery runs next, so that neither a slow network nor a busy team delays the others. It
// picks the network with the fewest running deliveries, then the team with the fewest running deliveries on that
// network. A team without competition may use all slots of its network.
type fairQueue struct {
	maxRunning    int // concurrent deliveries
	maxPerNetwork int // concurrent deliveries per network

	mu        sync.Mutex
	changed   chan struct{} // signals that a delivery arrived or a slot is free
	idle      chan struct{} // closed when the queue is closed and no delivery runs
	closed    bool
	queuedIDs map[string]bool          // IDs of the waiting deliveries
	networks  map[string]*networkQueue // by platform
	running   int
	turnCount uint64 // number of deliveries started so far
}

// networkQueue holds the deliveries to one network.
type networkQueue struct {
	share
	teams map[int64]*teamQueue
}

// teamQueue holds the deliveries of one team to one network.
type teamQueue struct {
	share
	ids []string // in the order in which they were added
}

// share is the usage of a network or team. The queue compares shares to select the next delivery.
type share struct {
	running  int
	waiting  int
	lastTurn uint64 // turn in which a delivery was last started
}

// before reports whether q precedes other: q has fewer running deliveries or, if the numbers are equal, had its last
// turn earlier.
func (q *share) before(other *share) bool {
	return cmp.Or(cmp.Compare(q.running, other.running), cmp.Compare(q.lastTurn, other.lastTurn)) < 0
}

func (q *share) start(turn uint64) {
	q.waiting--
	q.running++
	q.lastTurn = turn
}

func newFairQueue(maxRunning, maxPerNetwork int) *fairQueue {
	return &fairQueue{maxRunning: maxRunning, maxPerNetwork: maxPerNetwork, changed: make(chan struct{}, 1),
		idle: make(chan struct{}), queuedIDs: map[string]bool{}, networks: map[string]*networkQueue{}}
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
	return p.queuedIDs[id]
}

// add appends a delivery, unless it is already in the queue or the queue is full or closed.
func (p *fairQueue) add(d queuedDelivery) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.queuedIDs[d.id] || len(p.queuedIDs) >= maxQueued {
		return
	}
	network := p.networks[d.platform]
	if network == nil {
		network = &networkQueue{teams: map[int64]*teamQueue{}}
		p.networks[d.platform] = network
	}
	team := network.teams[d.team]
	if team == nil {
		team = &teamQueue{}
		network.teams[d.team] = team
	}
	p.queuedIDs[d.id] = true
	network.waiting++
	team.waiting++
	team.ids = append(team.ids, d.id)
	p.signal()
}

// next removes and returns the delivery that runs next. It reports false if the queue is empty or closed, or if no slot
// is free. The caller must call release after the work.
func (p *fairQueue) next() (queuedDelivery, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.running >= p.maxRunning {
		return queuedDelivery{}, false
	}
	var d queuedDelivery
	var nextNetwork *networkQueue
	for platform, candidate := range p.networks {
		if candidate.waiting > 0 && candidate.running < p.maxPerNetwork && (nextNetwork == nil || candidate.before(&nextNetwork.share)) {
			d.platform, nextNetwork = platform, candidate
		}
	}
	if nextNetwork == nil {
		return d, false
	}
	var nextTeam *teamQueue
	for team, candidate := range nextNetwork.teams {
		if candidate.waiting > 0 && (nextTeam == nil || candidate.before(&nextTeam.share)) {
			d.team, nextTeam = team, candidate
		}
	}
	d.id, nextTeam.ids = nextTeam.ids[0], nextTeam.ids[1:]
	delete(p.queuedIDs, d.id)
	p.turnCount++
	p.running++
	nextNetwork.start(p.turnCount)
	nextTeam.start(p.turnCount)
	return d, true
}

// release frees the slot of a delivery.
func (p *fairQueue) release(d queuedDelivery) {
	p.mu.Lock()
	defer p.mu.Unlock()
	network := p.networks[d.platform]
	team := network.teams[d.team]
	p.running--
	network.running--
	team.running--
	if team.running == 0 && team.waiting == 0 {
		delete(network.teams, d.team)
	}
	p.closeIdle()
	p.signal()
}

// close stops the queue from starting deliveries. The waiting deliveries are woken by another node, or by this node
// after a restart.
func (p *fairQueue) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		p.closeIdle()
	}
}

// closeIdle closes the channel idle if the queue is closed and no delivery runs.
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
