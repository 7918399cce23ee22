// Package loadshed bounds how much a node does at once. A Room has places; whoever finds none waits in a queue for a
// while and is then sent away, so that under a load that is too much for it a node serves as many calls as ever, each
// as quickly, and refuses the rest soon.
package loadshed

import (
	"container/list"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"
)

// ErrFull says that there was no place in time.
var ErrFull = errors.New("there is no room")

const (
	perProcessor = 128 // places: some run, the others wait for the database or the network
	queuePlaces  = 4   // may wait for each place: what waits holds memory too

	patience = 500 * time.Millisecond // how long one waits for a place in a burst
	// A queue that has stood for so long is no burst. Waiting long in it helps nobody: everybody would wait as long,
	// and as many would be sent away. See Nichols and Jacobson, Controlling Queue Delay (2012).
	standing      = 250 * time.Millisecond
	shortPatience = 20 * time.Millisecond
	// calm is how long nobody may have been sent away from a queue that stood for the load to be over. Were it over
	// whenever the queue runs empty for a moment, it would fill with those who may wait long, and be served to them,
	// again and again. Who is sent away from a queue that has not stood tells of no load: else bursts would keep this
	// up for ever that a longer wait would serve.
	calm = time.Second

	comeWithin = 3 // seconds
)

// Places is how many calls a node serves at once by itself, from the processors that it may use.
func Places() int { return perProcessor * runtime.GOMAXPROCS(0) }

// Room is a number of places. Its methods may be called at the same time.
type Room struct {
	places int

	mu      sync.Mutex
	running int
	waiting list.List // of waiter; the longest wait is at the front
	since   time.Time // when the queue was last seen empty, while somebody waits
	sent    time.Time // when somebody was last sent away from a queue that had stood
	refused int64
}

// waiter is somebody in the queue: told is true once a place is theirs, and false where it came free when they had
// waited for too long.
type waiter struct {
	told  chan bool
	until time.Time
}

// New makes a room with so many places, at least one.
func New(places int) *Room { return &Room{places: max(1, places)} }

// Size returns how many places the room has.
func (r *Room) Size() int { return r.places }

// Enter takes a place, which Leave gives back. It waits for one in the order of those who ask; where none comes free
// soon enough it is ErrFull, and the context's error where that ends first.
func (r *Room) Enter(ctx context.Context) error {
	r.mu.Lock()
	if r.running < r.places {
		r.running++
		r.mu.Unlock()
		return nil
	}
	now := time.Now()
	if r.waiting.Len() >= queuePlaces*r.places {
		r.sendAway(now)
		r.mu.Unlock()
		return ErrFull
	}
	if r.waiting.Len() == 0 {
		r.since = now
	}
	w := waiter{make(chan bool, 1), now.Add(r.patience(now))}
	turn := r.waiting.PushBack(w)
	r.mu.Unlock()
	return r.await(ctx, turn, w)
}

func (r *Room) patience(now time.Time) time.Duration {
	if now.Sub(r.since) >= standing || now.Sub(r.sent) < calm {
		return shortPatience
	}
	return patience
}

// sendAway counts one; the caller holds the lock.
func (r *Room) sendAway(now time.Time) {
	r.refused++
	if now.Sub(r.since) >= standing {
		r.sent = now
	}
}

func (r *Room) await(ctx context.Context, turn *list.Element, w waiter) error {
	timer := time.NewTimer(time.Until(w.until))
	defer timer.Stop()
	err := ErrFull
	select {
	case placed := <-w.told:
		return answer(placed)
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case placed := <-w.told: // at the same moment: a place that is there is taken
		return answer(placed)
	default:
	}
	r.waiting.Remove(turn)
	if errors.Is(err, ErrFull) {
		r.sendAway(time.Now())
	}
	return err
}

func answer(placed bool) error {
	if placed {
		return nil
	}
	return ErrFull
}

// Leave gives a place back, to whoever has waited longest of those whose time is not over: a processor that is busy
// lets some wait for longer than they may, and to serve them would make all others late too.
func (r *Room) Leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for first := r.waiting.Front(); first != nil; first = r.waiting.Front() {
		w := r.waiting.Remove(first).(waiter) //nolint:forcetypeassert // nothing else waits
		now := time.Now()
		if !now.After(w.until) {
			w.told <- true
			return
		}
		r.sendAway(now)
		w.told <- false
	}
	r.running--
}

// ComeAgain is after how long somebody who was sent away may come again: not all of them at the same moment.
func ComeAgain() time.Duration { return time.Second * time.Duration(1+rand.IntN(comeWithin)) } //nolint:gosec // nobody gains by guessing it

// State is how a room stands.
type State struct {
	Running, Waiting int
	Refused          int64 // since it was made
}

// State tells how the room stands.
func (r *Room) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return State{Running: r.running, Waiting: r.waiting.Len(), Refused: r.refused}
}

// Rooms are those of a node. What holds a place for long, as its sender is slow, must not hold up what is quick: so
// there are several.
type Rooms struct {
	Calls   *Room // of the API and of tools
	Pages   *Room // of the app
	Uploads *Room // files that come in
}

// NewRooms makes rooms with so many places each; by the processors where 0.
func NewRooms(places int) Rooms {
	if places == 0 {
		places = Places()
	}
	return Rooms{New(places), New(places), New(places)}
}
