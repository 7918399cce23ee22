// Package base implements the parts that all networks of the sandbox share: the store, the clock, and the handling of
// requests.
package base

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Options are the settings of a sandbox. Outside tests, use the zero value.
type Options struct {
	Now            func() time.Time                     // time.Now by default
	After          func(time.Duration) <-chan time.Time // used for [sandbox:slow=…]; time.After by default
	URL            string                               // base URL that clients use; by default, taken from each request
	ProcessingTime time.Duration                        // how long networks process uploaded media
}

// Server holds the store, the clock and the base URL that all networks of the sandbox share.
type Server struct {
	Store          *store.Store
	Now            func() time.Time
	after          func(time.Duration) <-chan time.Time
	url            string
	ProcessingTime time.Duration
	key            []byte // HMAC key for passwords and tokens
	closing        chan struct{}
	closeOnce      sync.Once
}

// Open returns a server for the data in dir. It creates dir if necessary.
func Open(dir string, opts Options) (*Server, error) {
	dataStore, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{
		Store: dataStore, Now: opts.Now, after: opts.After, url: strings.TrimRight(opts.URL, "/"),
		ProcessingTime: opts.ProcessingTime,
		closing:        make(chan struct{}),
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.after == nil {
		s.after = time.After
	}
	if s.key, err = dataStore.Key(); err != nil {
		_ = dataStore.Close() // return the first error instead
		return nil, err
	}
	return s, nil
}

// Close ends all calls of Pause that are waiting, and closes the store.
func (s *Server) Close() error {
	s.closeOnce.Do(func() { close(s.closing) })
	return s.Store.Close()
}

// BaseURL returns the base URL of the sandbox for the client that sent r.
func (s *Server) BaseURL(r *http.Request) string {
	if s.url != "" {
		return s.url
	}
	return "http://" + r.Host
}

// Pause waits for d. It returns true, or false if the sandbox closes before d is over.
func (s *Server) Pause(d time.Duration) bool {
	select {
	case <-s.after(d):
		return true
	case <-s.closing:
		return false
	}
}

// Hash returns the keyed hash (HMAC) of a password or a token.
func (s *Server) Hash(text string) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// RedirectToPost redirects the client to a post on the sandbox's page. id is the post's ID or URL.
func (s *Server) RedirectToPost(w http.ResponseWriter, r *http.Request, platform, id string) {
	address := s.BaseURL(r) + "/#" + Anchor(platform, id)
	http.Redirect(w, r, address, http.StatusSeeOther) //nolint:gosec // the sandbox's own base URL with an escaped ID
}

// Anchor returns the HTML ID of a post on the page. It contains the last part of the post's ID or URL.
func Anchor(platform, id string) string {
	return platform + "-" + url.PathEscape(id[strings.LastIndexByte(id, '/')+1:])
}

// WorkContext returns a context that is not canceled when the client disconnects. Like a real network, the sandbox
// completes every request that it has received.
func WorkContext(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), workTimeout)
}

const workTimeout = marker.MaxSlow + 30*time.Second

// NewID returns a random ID.
func NewID() string { return rand.Text() }

// StableID returns a numeric ID that begins with prefix. The same name has the same ID in every sandbox.
func StableID(prefix, name string) string {
	sum := sha256.Sum256([]byte("sandbox " + name))
	return fmt.Sprintf("%s%016d", prefix, binary.BigEndian.Uint64(sum[:8])%1e16)
}

// LinkPattern matches links in a text.
var LinkPattern = regexp.MustCompile(`https?://\S+`)

// IsWrongSecret reports whether a client secret is "wrong-secret". The sandbox accepts every other secret.
func IsWrongSecret(secret string) bool { return secret == "wrong-secret" }
