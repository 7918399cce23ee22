package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/loadshed"
	"pressroom.example/pressroom/internal/web/shell"
)

const (
	heartbeat    = 20 * time.Second // proxies close connections that are silent for a minute
	writeTimeout = 20 * time.Second // maximum time for the client to accept a write
)

// Handlers serves the streams.
type Handlers struct {
	*shell.Shell

	feed *Feed
}

// New returns the handlers.
func New(sh *shell.Shell, feed *Feed) *Handlers { return &Handlers{sh, feed} }

// Routes returns the route of the streams. The route skips the slot because Feed limits the number of streams.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{{Pattern: "GET /live", Audience: shell.Members, Handler: h.stream, SkipsSlot: true}}
}

// stream sends changes in the selected team to the visitor's browser until either side ends the stream.
func (h *Handlers) stream(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	s, err := h.feed.open(Subscriber{h.SessionHash(r.Context()), v.ID, v.Team.ID, v.Epoch})
	if err != nil {
		h.ShowError(w, r, apierr.AtCapacity(loadshed.RetryAfter()).Wrap(err))
		return
	}
	defer h.feed.remove(s)
	if err := h.feed.start(r.Context()); err != nil {
		h.ShowError(w, r, err)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // for nginx
	control := http.NewResponseController(w)
	// Disable the server's read timeout for this connection. The write timeout is renewed before each write.
	if control.SetReadDeadline(time.Time{}) != nil {
		return
	}
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	// The random retry delay spreads the reconnections after a node has stopped.
	out := fmt.Appendf(nil, "retry: %d\n\n", 2000+rand.IntN(3000)) //nolint:gosec // no secret
	for {
		if control.SetWriteDeadline(time.Now().Add(writeTimeout)) != nil {
			return
		}
		if _, err := w.Write(out); err != nil || control.Flush() != nil {
			return // the client has disconnected
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		case <-ticker.C:
			out = []byte(":\n\n")
		case <-s.wake:
			out = h.encodeEvents(r, s)
		}
	}
}

// encodeEvents returns the pending changes of a stream as server-sent events. A notification's event contains the
// number of unread notifications.
func (h *Handlers) encodeEvents(r *http.Request, s *stream) []byte {
	var out bytes.Buffer
	for _, c := range s.take() {
		event := map[string]any{"topic": c.Topic, "id": c.ID}
		if c.Topic == Notice && h.Unread != nil {
			n, err := h.Unread(r.Context(), s.Person)
			if err != nil {
				h.Log.WarnContext(r.Context(), "counting unread notifications failed", "error", err)
				continue
			}
			event["unread"] = n
		}
		raw, err := json.Marshal(event)
		if err != nil {
			continue // unreachable: the map holds only strings and a number
		}
		fmt.Fprintf(&out, "data: %s\n\n", raw)
	}
	return out.Bytes()
}
