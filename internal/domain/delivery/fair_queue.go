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

// before reports whether s precedes other: s has fewer running deliveries or, if the numbers are equal, had its last
// turn earlier.
func (s *share) before(other *share) bool {
	return cmp.Or(cmp.Compare(s.running, other.running), cmp.Compare(s.lastTurn, other.lastTurn)) < 0
}

func (s *share) start(turn uint64) {
	s.waiting--
	s.running++
	s.lastTurn = turn
}

func newFairQueue(maxRunning, maxPerNetwork int) *fairQueue {
	return &fairQueue{maxRunning: maxRunning, maxPerNetwork: maxPerNetwork, changed: make(chan struct{}, 1),
		idle: make(chan struct{}), queuedIDs: map[string]bool{}, networks: map[string]*networkQueue{}}
}

func (q *fairQueue) signal() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// contains reports whether a delivery waits in the queue.
func (q *fairQueue) contains(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queuedIDs[id]
}

// add appends a delivery, unless it is already in the queue or the queue is full or closed.
func (q *fairQueue) add(d queuedDelivery) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.queuedIDs[d.id] || len(q.queuedIDs) >= maxQueued {
		return
	}
	network := q.networks[d.platform]
	if network == nil {
		network = &networkQueue{teams: map[int64]*teamQueue{}}
		q.networks[d.platform] = network
	}
	team := network.teams[d.team]
	if team == nil {
		team = &teamQueue{}
		network.teams[d.team] = team
	}
	q.queuedIDs[d.id] = true
	network.waiting++
	team.waiting++
	team.ids = append(team.ids, d.id)
	q.signal()
}

// next removes and returns the delivery that runs next. It reports false if the queue is empty or closed, or if no slot
// is free. The caller must call release after the work.
func (q *fairQueue) next() (queuedDelivery, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.running >= q.maxRunning {
		return queuedDelivery{}, false
	}
	var d queuedDelivery
	var nextNetwork *networkQueue
	for platform, candidate := range q.networks {
		if candidate.waiting > 0 && candidate.running < q.maxPerNetwork && (nextNetwork == nil || candidate.before(&nextNetwork.share)) {
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
	delete(q.queuedIDs, d.id)
	q.turnCount++
	q.running++
	nextNetwork.start(q.turnCount)
	nextTeam.start(q.turnCount)
	return d, true
}

// release frees the slot of a delivery.
func (q *fairQueue) release(d queuedDelivery) {
	q.mu.Lock()
	defer q.mu.Unlock()
	network := q.networks[d.platform]
	team := network.teams[d.team]
	q.running--
	network.running--
	team.running--
	if team.running == 0 && team.waiting == 0 {
		delete(network.teams, d.team)
	}
	q.closeIdle()
	q.signal()
}

// close stops the queue from starting deliveries. The waiting deliveries are woken by another node, or by this node
// after a restart.
func (q *fairQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.closed = true
		q.closeIdle()
	}
}

// closeIdle closes the channel idle if the queue is closed and no delivery runs.
func (q *fairQueue) closeIdle() {
	if q.closed && q.running == 0 {
		close(q.idle)
	}
}

// runningByNetwork returns the number of running deliveries by platform.
func (q *fairQueue) runningByNetwork() map[string]int {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make(map[string]int, len(q.networks))
	for platform, n := range q.networks {
		out[platform] = n.running
	}
	return out
}
