package bluesky

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// rateWindow counts calls for the rate limit headers. It never rejects calls, because scripts may call the sandbox in
// loops. Calls are rejected only if a marker requests it.
type rateWindow struct {
	mu      sync.Mutex
	resetAt time.Time
	calls   int
}

const (
	rateLimit  = 3000 // calls per window
	rateLength = 5 * time.Minute
)

// count counts a call and sets the headers.
func (w *rateWindow) count(header http.Header, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !now.Before(w.resetAt) {
		w.resetAt, w.calls = now.Add(rateLength), 0
	}
	w.calls++
	header.Set("RateLimit-Limit", strconv.Itoa(rateLimit))
	header.Set("RateLimit-Policy", strconv.Itoa(rateLimit)+";w="+strconv.Itoa(int(rateLength/time.Second)))
	header.Set("RateLimit-Remaining", strconv.Itoa(max(rateLimit-w.calls, 0)))
	header.Set("RateLimit-Reset", strconv.FormatInt(w.resetAt.Unix(), 10))
}

// exhaust sets the headers of a rate limit error. They ask the client to wait for two seconds, rounded up to a whole
// second.
func (w *rateWindow) exhaust(header http.Header, now time.Time) {
	header.Set("RateLimit-Remaining", "0")
	header.Set("RateLimit-Reset", strconv.FormatInt(now.Add(2*time.Second+time.Second-1).Unix(), 10))
}
