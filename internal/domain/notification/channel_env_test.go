package notification_test

import (
	"crypto/x509"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/platform/safehttp"
	"pressroom.example/pressroom/internal/testkit/must"
)

// chats receives messages like the services, and rejects the messages that they would reject.
type chats struct {
	t *testing.T

	mu       sync.Mutex
	requests []chatRequest
	status   int         // status of all responses, unless 0
	wait     string      // Retry-After of these responses, unless empty
	slow     string      // path of requests that wait until the client leaves or release is called
	arrived  chan string // gets the path of each request, unless nil
	released chan bool   // ends slow requests with status 500 when it is closed
}

type chatRequest struct {
	path   string
	header http.Header
	raw    []byte
	body   map[string]any
}

func (c *chats) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	request := chatRequest{path: r.URL.Path, header: r.Header, raw: raw}
	if err != nil || json.Unmarshal(raw, &request.body) != nil || r.Method != http.MethodPost {
		c.t.Errorf("%s %s: %s", r.Method, r.URL, raw)
	}
	c.mu.Lock()
	slow := r.URL.Path == c.slow
	c.requests = append(c.requests, request)
	c.mu.Unlock()
	if c.arrived != nil {
		c.arrived <- r.URL.Path
	}
	if slow {
		select {
		case <-r.Context().Done():
			return
		case <-c.released:
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.status != 0:
		if c.wait != "" {
			w.Header().Set("Retry-After", c.wait)
		}
		w.WriteHeader(c.status)
	case strings.HasPrefix(r.URL.Path, "/api/webhooks/"): // Discord
		w.WriteHeader(http.StatusNoContent)
	case strings.HasPrefix(r.URL.Path, "/workflows/"): // Teams
		w.WriteHeader(http.StatusAccepted)
	}
}

// answer sets the status of all responses. 0 restores the usual responses.
func (c *chats) answer(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

// release ends slow requests with status 500.
func (c *chats) release() { close(c.released) }

// take returns the requests since the last call.
func (c *chats) take() []chatRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.requests
	c.requests = nil
	return out
}

// withChannels adds channels to an environment.
func withChannels(t *testing.T, w *env) (*chats, string) {
	t.Helper()
	c := &chats{t: t, released: make(chan bool)}
	server := httptest.NewTLSServer(c)
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	client := must.Get(safehttp.New(safehttp.Options{Allow: []string{"127.0.0.1"}, RootCAs: roots, Redirects: -1}))(t)
	w.Client, w.Sealer = client, must.Get(tokencrypt.New(must.Get(tokencrypt.NewKey())(t)))(t)
	w.Log = slog.New(slog.DiscardHandler)
	w.Service = notification.New(w.db, w.Options)
	return c, server.URL
}

func (w *env) fail(t *testing.T, post string, account int64) {
	t.Helper()
	w.recordEvent(t, "post.account_failed", post, map[string]any{"account": account, "reason": "network_error"})
}

func newChat(service notification.ChannelService, address string) notification.NewChannel {
	return notification.NewChannel{Service: service, Name: "chat", URL: address}
}

// sendAll sends due messages and returns their number.
func (w *env) sendAll(t *testing.T) int {
	t.Helper()
	for n := 0; ; n++ {
		if more := must.Get(w.SendNextToChannel(t.Context()))(t); !more {
			return n
		}
	}
}
