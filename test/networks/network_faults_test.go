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
	lost          // it arrives, and its answer does not
	heldFirst     // it waits until the wire is released, and has not arrived then
	heldLast      // it arrives, and its answer waits until the wire is released
	failing       // it has not arrived, and is answered with an error
)

// The chances of a request in a storm.
const (
	lossChance   = 0.05
	errorChance  = 0.05
	expiryChance = 0.02
)

// wire is a faulty transport between the program and the networks. It applies a fault to one request of each network.
type wire struct {
	networks http.Handler

	mu    sync.Mutex
	how   how
	which int            // of each network's requests, from 1
	seen  map[string]int // by network
	met   map[string]bool
	free  chan struct{} // closed when the wire is released

	told   map[string]string     // by network, the JSON and form bodies received, unless nil
	expire func(platform string) // in a storm, ends its access tokens; else nil
}

// storm begins to lose answers, to fail and to end tokens at random.
func (w *wire) storm(expire func(platform string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expire = expire
}

// chance deals a request in a storm its fate.
func (w *wire) chance(platform, path string) how {
	w.mu.Lock()
	expire := w.expire
	w.mu.Unlock()
	// The answer to a rotation of grants is never lost, because the loss cannot be repaired on real networks either.
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

// expect begins to count each network's requests and deals with one of them.
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

// caught returns the networks that had a request intercepted.
func (w *wire) caught() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]bool{}
	for platform := range w.met {
		out[platform] = true
	}
	return out
}

// meet counts a request.
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

// overhear records the body of a request, except files.
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

// ServeHTTP answers for the networks.
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

// serveUnheard performs a request whose answer is lost.
func (w *wire) serveUnheard(r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.networks.ServeHTTP(httptest.NewRecorder(), r)
}

// cut ends a connection without an answer.
func cut(out http.ResponseWriter) {
	conn, _, err := http.NewResponseController(out).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_ = conn.Close()
}
