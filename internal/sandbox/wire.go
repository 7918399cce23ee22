package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	maxBody     = 150 << 10        // bytes, as the genuine Bluesky server takes
	bodyTimeout = 15 * time.Second // for the whole of it
)

// bufferBody reads the whole body in good time, so that nothing later waits for the client.
func bufferBody(w http.ResponseWriter, r *http.Request) error {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not every writer can; the body is bounded all the same
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	_ = control.SetReadDeadline(time.Time{})
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &xrpcError{http.StatusRequestEntityTooLarge, "PayloadTooLargeError", "request entity too large"}
	}
	if err != nil {
		return invalidRequest("The body could not be read")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

func writeJSON(w http.ResponseWriter, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		slog.Error("sandbox: writing an answer", "err", err)
		http.Error(w, "{}", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that went away misses its answer, as with a real network
}

// cut ends the connection without a byte of an answer.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the server's own way to say it, where the connection is not ours to take
	}
	_ = conn.Close()
}

// rateWindow counts calls for the rate headers. The sandbox tells a limit but only a marker makes it refuse:
// people try things out in loops.
type rateWindow struct {
	mu     sync.Mutex
	resets time.Time
	used   int
}

const (
	ratePoints = 3000
	rateWidth  = 5 * time.Minute
)

// tell counts one call and says how many are left.
func (w *rateWindow) tell(header http.Header, now time.Time) {
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

// exhausted says that none are left for two seconds.
func (w *rateWindow) exhausted(header http.Header, now time.Time) {
	header.Set("RateLimit-Remaining", "0")
	header.Set("RateLimit-Reset", strconv.FormatInt(now.Add(2*time.Second+time.Second-1).Unix(), 10))
}
