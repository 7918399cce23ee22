// Package shed bounds how much a node does at once. A Room has places; whoever finds none waits in a queue for a while and is
// then sent away, so that under a load that is too much for it a node serves as many calls as ever, each as quickly, and refuses
// the rest soon.
package shed

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
	perProcessor = 64 // places: some run, the others wait for the database or the network
	queuePlaces  = 8  // may wait for each place: what waits holds memory too

	patience = 500 * time.Millisecond // how long one waits for a place in a burst
	// A queue that has stood for as long as a burst may last is no burst. Waiting long in it helps nobody: everybody would wait as
	// long, and as many would be sent away. See Nichols and Jacobson, Controlling Queue Delay (2012).
	standing      = patience
	shortPatience = 20 * time.Millisecond

	comeWithin = 3 // seconds
)

// Places is how many calls a node serves at once by itself, from the processors that it may use.
func Places() int { return perProcessor * runtime.GOMAXPROCS(0) }

// Room is a number of places. Its methods may be called at the same time.
type Room struct {
	places int

	mu      sync.Mutex
	running int
	waiting list.List // of chan struct{}, which is closed once its place is free; the longest wait is at the front
	since   time.Time // when the queue was last seen empty, while somebody waits
	refused int64
}

// New makes a room with so many places, at least one.
func New(places int) *Room { return &Room{places: max(1, places)} }

// Enter takes a place, which Leave gives back. It waits for one in the order of those who ask; where none comes free soon enough it
// is ErrFull, and the context's error where that ends first.
func (r *Room) Enter(ctx context.Context) error {
	r.mu.Lock()
	if r.running < r.places {
		r.running++
		r.mu.Unlock()
		return nil
	}
	if r.waiting.Len() >= queuePlaces*r.places {
		r.refused++
		r.mu.Unlock()
		return ErrFull
	}
	if r.waiting.Len() == 0 {
		r.since = time.Now()
	}
	patience, free := r.patience(), make(chan struct{})
	turn := r.waiting.PushBack(free)
	r.mu.Unlock()
	return r.await(ctx, turn, free, patience)
}

func (r *Room) patience() time.Duration {
	if time.Since(r.since) >= standing {
		return shortPatience
	}
	return patience
}

func (r *Room) await(ctx context.Context, turn *list.Element, free chan struct{}, patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	err := ErrFull
	select {
	case <-free:
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-free: // at the same moment: the place is there, and taken
		return nil
	default:
	}
	r.waiting.Remove(turn)
	if errors.Is(err, ErrFull) {
		r.refused++
	}
	return err
}

// Leave gives a place back, to whoever has waited longest.
func (r *Room) Leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.waiting.Front()
	if first == nil {
		r.running--
		return
	}
	close(r.waiting.Remove(first).(chan struct{})) //nolint:forcetypeassert // nothing else waits
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

// Rooms are those of a node. What holds a place for long, as its sender is slow, must not hold up what is quick: so there are several.
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
