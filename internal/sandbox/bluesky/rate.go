package bluesky

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// rateWindow counts calls for the rate headers. Calls are only refused if a marker requests it, because people
// experiment with the sandbox in loops.
type rateWindow struct {
	mu     sync.Mutex
	resets time.Time
	used   int
}

const (
	ratePoints = 3000
	rateWidth  = 5 * time.Minute
)

// count counts a call and sets the headers.
func (w *rateWindow) count(header http.Header, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !now.Before(w.resets) {
		w.resets, w.used = now.Add(rateWidth), 0
	}
	w.used++
	header.Set("RateLimit-Limit", strconv.Itoa(ratePoints))
	header.Set("RateLimit-Policy", strconv.Itoa(ratePoints)+";w="+strconv.Itoa(int(rateWidth/time.Second)))
	header.Set("RateLimit-Remaining", strconv.Itoa(max(ratePoints-w.used, 0)))
	header.Set("RateLimit-Reset", strconv.FormatInt(w.resets.Unix(), 10))
}

// exhaust sets the headers of a refusal for two seconds.
func (w *rateWindow) exhaust(header http.Header, now time.Time) {
	header.Set("RateLimit-Remaining", "0")
	header.Set("RateLimit-Reset", strconv.FormatInt(now.Add(2*time.Second+time.Second-1).Unix(), 10))
}
