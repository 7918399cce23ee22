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

// fault is the fault of a request.
type fault int

const (
	through   fault = iota
	lost            // the request arrives, its response is lost
	heldFirst       // the request waits until the proxy is released and does not arrive
	heldLast        // the request arrives, its response waits until the proxy is released
	failing         // the request does not arrive and gets an error
)

// Probabilities of faults of a request in a storm.
const (
	lossChance   = 0.05
	errorChance  = 0.05
	expiryChance = 0.02
)

// faultyProxy is a faulty proxy between the server and the networks. It applies a fault to one request of each network.
type faultyProxy struct {
	networks http.Handler

	mu    sync.Mutex
	fault fault
	which int            // number of the affected request of each network, from 1
	seen  map[string]int // number of requests by network
	met   map[string]bool
	free  chan struct{} // closed when the proxy is released

	recorded map[string]string     // received JSON and form bodies by network; nil if not recording
	expire   func(platform string) // expires a network's access tokens; nil outside of a storm
}

// storm starts to inject random faults.
func (w *faultyProxy) storm(expire func(platform string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expire = expire
}

// randomFault draws the fault of a request in a storm.
func (w *faultyProxy) randomFault(platform, path string) fault {
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
func (w *faultyProxy) expect(which int, fault fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault, w.which, w.seen, w.met, w.free = fault, which, map[string]int{}, map[string]bool{}, make(chan struct{})
}

// release ends all faults.
func (w *faultyProxy) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault != through && w.free != nil {
		close(w.free)
	}
	w.fault, w.expire = through, nil
}

// affectedNetworks returns the networks whose request was intercepted.
func (w *faultyProxy) affectedNetworks() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]bool{}
	for platform := range w.met {
		out[platform] = true
	}
	return out
}

// nextFault counts a request and returns its fault.
func (w *faultyProxy) nextFault(platform string) (fault, chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault == through {
		return through, nil
	}
	if w.seen[platform]++; w.seen[platform] != w.which {
		return through, nil
	}
	w.met[platform] = true
	return w.fault, w.free
}

// startRecording starts to record request bodies.
func (w *faultyProxy) startRecording() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recorded = map[string]string{}
}

// recording returns the recorded requests of a network.
func (w *faultyProxy) recording(platform string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.recorded[platform]
}

// record records the body of a request, unless it is a file.
func (w *faultyProxy) record(platform string, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if kind := r.Header.Get("Content-Type"); w.recorded == nil || !strings.HasPrefix(kind, "application/") {
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.recorded[platform] += string(body) + "\n"
}

// ServeHTTP forwards a request to its network with the request's fault.
func (w *faultyProxy) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	platform, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if platform == "held" {
		w.networks.ServeHTTP(out, r)
		return
	}
	w.record(platform, r)
	fault, free := w.nextFault(platform)
	if fault == through {
		fault = w.randomFault(platform, r.URL.Path)
	}
	switch fault {
	case through:
		w.networks.ServeHTTP(out, r)
	case failing:
		http.Error(out, "The storm has it.", http.StatusBadGateway)
	case heldFirst:
		<-free
		cut(out)
	case lost, heldLast:
		w.serveWithoutResponse(r)
		if fault == heldLast {
			<-free
		}
		cut(out)
	}
}

// serveWithoutResponse performs a request and discards the response.
func (w *faultyProxy) serveWithoutResponse(r *http.Request) {
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
