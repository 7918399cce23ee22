package storm

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pressroom/internal/testkit/fixture"
)

// fate is what becomes of a request to a network.
type fate int

const (
	through fate = iota
	lost         // it arrives, and its answer does not
	failing      // it does not arrive, and is answered with an error
	hanging      // it does not arrive, and nobody answers for long
	late         // it arrives after the client has given up
)

var fates = [...]string{"through", "answer lost", "failing", "hanging", "arriving late"}

// The chances of a request, in a thousand: always, and while the networks have bad weather.
var (
	always = map[fate]int{lost: 10, failing: 10, hanging: 3, late: 3}
	foul   = map[fate]int{lost: 80, failing: 120, hanging: 40, late: 40}
)

const (
	networkTimeout = 2 * time.Second  // for which the program waits for most answers
	networkSettled = 20 * time.Second // within which a network lists what it was given, arrived however late
	lateBy         = 7 * time.Second  // more than the program waits for any answer, and with mostAhead less than the above
	hangFor        = 8 * time.Second
	arrivesWithin  = 8 * time.Second // from the first byte of a request to its last, else a network no longer reads it
)

// wire stands between the program and the sandbox networks.
type wire struct {
	networks http.Handler
	dice     func(int) int
	blows    atomic.Bool // there is weather at all
	foul     atomic.Bool
	closing  chan struct{}
	under    sync.WaitGroup // requests that arrive late

	mu     sync.Mutex
	counts map[string]int
	heard  map[string][]string // what came with a post's mark, and what became of it
}

func newWire(networks http.Handler, dice func(int) int) *wire {
	return &wire{networks: networks, dice: dice, closing: make(chan struct{}), counts: map[string]int{}, heard: map[string][]string{}}
}

// fate throws the dice for a request. A grant that rotates is lost with its answer, at the real networks too; nothing
// can be told from that. What the public world is asked for is only read.
func (w *wire) fate(path string) fate {
	if !w.blows.Load() || strings.Contains(path, "token") || strings.Contains(path, "Session") || strings.HasPrefix(path, "/held") {
		return through
	}
	chances := always
	if w.foul.Load() {
		chances = foul
	}
	dice := w.dice(1000)
	for _, f := range []fate{lost, failing, hanging, late} {
		if dice -= chances[f]; dice < 0 {
			return f
		}
	}
	return through
}

// ServeHTTP answers for the networks.
func (w *wire) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	fate := w.fate(r.URL.Path)
	w.hear(r, fate)
	if fate == through {
		w.networks.ServeHTTP(out, r)
		return
	}
	w.note(fate)
	switch fate {
	case failing:
		http.Error(out, "The storm has it.", http.StatusBadGateway)
		return
	case hanging:
		w.wait(hangFor)
	case lost:
		w.unheard(r)
	case late:
		w.under.Go(func() {
			w.wait(lateBy)
			w.unheard(r)
		})
		w.wait(hangFor)
	case through:
	}
	cut(out)
}

// hear keeps in mind what came of a post, so that the reckoning can tell how it came to stand twice.
func (w *wire) hear(r *http.Request, f fate) {
	body, err := io.ReadAll(r.Body)
	mark := markOf(string(body))
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil || mark == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard[mark] = append(w.heard[mark],
		fmt.Sprintf("\n  %s: %s %s, %s", time.Now().UTC().Format(time.StampMilli), r.Method, r.URL.Path, fates[f]))
}

// story returns what came of a post, and when each that stands was made.
func (w *wire) story(mark string, there []fixture.Post) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := strings.Join(w.heard[mark], "")
	for _, p := range there {
		out += "\n  made at " + p.At.Format(time.StampMilli)
	}
	return out
}

func (w *wire) note(f fate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[fates[f]]++
}

// unheard lets the networks deal with a request whose answer nobody gets, whether or not its sender is still there.
func (w *wire) unheard(r *http.Request) {
	defer func() {
		if cause := recover(); cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // it is that very value
			panic(cause)
		}
	}() // a network that cuts the connection itself
	w.networks.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
}

func (w *wire) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-w.closing:
	}
}

// keep reads a request's body first, so that it can be handled after the client has disconnected.
func keep(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			cut(out) // the client was killed: an incomplete request has not arrived
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(out, r)
	})
}

// cut ends a connection without an answer.
func cut(out http.ResponseWriter) {
	conn, _, err := http.NewResponseController(out).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_ = conn.Close()
}
