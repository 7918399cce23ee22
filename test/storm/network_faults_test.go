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

	"pressroom.example/pressroom/internal/testkit/fixture"
)

// networkFault is a fault of a request to a network.
type networkFault int

const (
	through networkFault = iota
	lost                 // the request arrives, its response is lost
	failing              // the request does not arrive and gets an error
	hanging              // the request does not arrive and times out
	late                 // the request arrives after the client has given up
)

var fates = [...]string{"through", "answer lost", "failing", "hanging", "arriving late"}

// Probabilities of faults per thousand requests: normally, and during network failures.
var (
	always = map[networkFault]int{lost: 10, failing: 10, hanging: 3, late: 3}
	foul   = map[networkFault]int{lost: 80, failing: 120, hanging: 40, late: 40}
)

const (
	networkTimeout = 2 * time.Second  // timeout of most of the program's requests
	networkSettled = 20 * time.Second // time in which a network lists new posts, even late ones
	lateBy         = 7 * time.Second  // more than any timeout; lateBy+maxClockOffset is less than networkSettled
	hangFor        = 8 * time.Second
	arrivesWithin  = 8 * time.Second // maximum duration of reading a request
)

// faultyTransport is a faulty transport between the program and the sandbox networks.
type faultyTransport struct {
	networks     http.Handler
	dice         func(int) int
	injecting    atomic.Bool // whether faults are injected
	foul         atomic.Bool
	closing      chan struct{}
	lateRequests sync.WaitGroup // requests that arrive late

	mu       sync.Mutex
	counts   map[string]int
	requests map[string][]string // requests with a post's mark, with their results
}

func newFaultyTransport(networks http.Handler, dice func(int) int) *faultyTransport {
	return &faultyTransport{networks: networks, dice: dice, closing: make(chan struct{}),
		counts: map[string]int{}, requests: map[string][]string{},
	}
}

// draw returns a random fault for a request. Responses with new refresh tokens are never lost, because real networks
// cannot recover from that loss either.
func (w *faultyTransport) draw(path string) networkFault {
	if !w.injecting.Load() || strings.Contains(path, "token") || strings.Contains(path, "Session") || strings.HasPrefix(path, "/held") {
		return through
	}
	chances := always
	if w.foul.Load() {
		chances = foul
	}
	dice := w.dice(1000)
	for _, f := range []networkFault{lost, failing, hanging, late} {
		if dice -= chances[f]; dice < 0 {
			return f
		}
	}
	return through
}

// ServeHTTP forwards a request to its network with a random fault.
func (w *faultyTransport) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	drawn := w.draw(r.URL.Path)
	w.record(r, drawn)
	if drawn == through {
		w.networks.ServeHTTP(out, r)
		return
	}
	w.note(drawn)
	switch drawn {
	case failing:
		http.Error(out, "The storm has it.", http.StatusBadGateway)
		return
	case hanging:
		w.wait(hangFor)
	case lost:
		w.discardResponse(r)
	case late:
		w.lateRequests.Go(func() {
			w.wait(lateBy)
			w.discardResponse(r)
		})
		w.wait(hangFor)
	case through:
	}
	cut(out)
}

// record records the result of a request about a post, to explain duplicates.
func (w *faultyTransport) record(r *http.Request, f networkFault) {
	body, err := io.ReadAll(r.Body)
	mark := markOf(string(body))
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil || mark == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests[mark] = append(w.requests[mark],
		fmt.Sprintf("\n  %s: %s %s, %s", time.Now().UTC().Format(time.StampMilli), r.Method, r.URL.Path, fates[f]))
}

// history returns the requests about a post, and when each published copy was created.
func (w *faultyTransport) history(mark string, there []fixture.Post) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := strings.Join(w.requests[mark], "")
	for _, p := range there {
		out += "\n  made at " + p.At.Format(time.StampMilli)
	}
	return out
}

func (w *faultyTransport) note(f networkFault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[fates[f]]++
}

// discardResponse performs a request and discards the response. It does so even if the client has disconnected.
func (w *faultyTransport) discardResponse(r *http.Request) {
	defer func() {
		if cause := recover(); cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // the value is comparable
			panic(cause)
		}
	}() // The network aborts some connections itself.
	w.networks.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
}

func (w *faultyTransport) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-w.closing:
	}
}

// readFirst reads a request's body first, so that it can be handled after the client has disconnected.
func readFirst(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			cut(out) // The client was killed, and its request is incomplete.
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(out, r)
	})
}

// cut closes a connection without a response.
func cut(out http.ResponseWriter) {
	conn, _, err := http.NewResponseController(out).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_ = conn.Close()
}
