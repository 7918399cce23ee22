package networks

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// how is the fault of a request.
type how int

const (
	through   how = iota
	lost          // the request arrives, its response is lost
	heldFirst     // the request waits until the wire is released and does not arrive
	heldLast      // the request arrives, its response waits until the wire is released
	failing       // the request does not arrive and gets an error
)

// Probabilities of faults of a request in a storm.
const (
	lossChance   = 0.05
	errorChance  = 0.05
	expiryChance = 0.02
)

// wire is a faulty proxy between the server and the networks. It applies a fault to one request of each network.
type wire struct {
	networks http.Handler

	mu    sync.Mutex
	how   how
	which int            // number of the affected request of each network, from 1
	seen  map[string]int // number of requests by network
	met   map[string]bool
	free  chan struct{} // closed when the wire is released

	told   map[string]string     // received JSON and form bodies by network; nil if not recording
	expire func(platform string) // expires a network's access tokens; nil outside of a storm
}

// storm starts to inject random faults.
func (w *wire) storm(expire func(platform string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expire = expire
}

// chance draws the fault of a request in a storm.
func (w *wire) chance(platform, path string) how {
	w.mu.Lock()
	expire := w.expire
	w.mu.Unlock()
	// The response to a token rotation is never lost, because real networks cannot recover from that loss either.
	if expire == nil || strings.Contains(path, "token") || strings.Contains(path, "refreshSession") {
		return through
	}
	if rand.Float64() < expiryChance {
		expire(platform)
	}
	switch dice := rand.Float64(); {
	case dice < lossChance:
		return lost
	case dice < lossChance+errorChance:
		return failing
	}
	return through
}

// expect resets the counts and applies a fault to the given request of each network.
func (w *wire) expect(which int, how how) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.how, w.which, w.seen, w.met, w.free = how, which, map[string]int{}, map[string]bool{}, make(chan struct{})
}

// release ends all faults.
func (w *wire) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.how != through && w.free != nil {
		close(w.free)
	}
	w.how, w.expire = through, nil
}

// caught returns the networks whose request was intercepted.
func (w *wire) caught() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]bool{}
	for platform := range w.met {
		out[platform] = true
	}
	return out
}

// meet counts a request and returns its fault.
func (w *wire) meet(platform string) (how, chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.how == through {
		return through, nil
	}
	if w.seen[platform]++; w.seen[platform] != w.which {
		return through, nil
	}
	w.met[platform] = true
	return w.how, w.free
}

// listen starts to record request bodies.
func (w *wire) listen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = map[string]string{}
}

// recording returns the recorded requests of a network.
func (w *wire) recording(platform string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told[platform]
}

// overhear records the body of a request, unless it is a file.
func (w *wire) overhear(platform string, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if kind := r.Header.Get("Content-Type"); w.told == nil || !strings.HasPrefix(kind, "application/") {
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.told[platform] += string(body) + "\n"
}

// ServeHTTP forwards a request to its network with the request's fault.
func (w *wire) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	platform, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if platform == "held" {
		w.networks.ServeHTTP(out, r)
		return
	}
	w.overhear(platform, r)
	how, free := w.meet(platform)
	if how == through {
		how = w.chance(platform, r.URL.Path)
	}
	switch how {
	case through:
		w.networks.ServeHTTP(out, r)
	case failing:
		http.Error(out, "The storm has it.", http.StatusBadGateway)
	case heldFirst:
		<-free
		cut(out)
	case lost, heldLast:
		w.serveUnheard(r)
		if how == heldLast {
			<-free
		}
		cut(out)
	}
}

// serveUnheard performs a request and discards the response.
func (w *wire) serveUnheard(r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.networks.ServeHTTP(httptest.NewRecorder(), r)
}

// cut closes a connection without a response.
func cut(out http.ResponseWriter) {
	conn, _, err := http.NewResponseController(out).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_ = conn.Close()
}
