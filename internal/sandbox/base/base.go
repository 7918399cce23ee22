// Package base has the parts that all networks of the sandbox share: the data, the clock, and the handling of calls.
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
	Now   func() time.Time                     // time.Now by default
	After func(time.Duration) <-chan time.Time // time.After by default; used for [sandbox:slow=…]
	URL   string                               // base URL that clients use; by default that of each request
	Ready time.Duration                        // time that a network needs to process media before publishing
}

// Server has the data, the clock and the address that all networks of the sandbox share.
type Server struct {
	Store   *store.Store
	Now     func() time.Time
	after   func(time.Duration) <-chan time.Time
	url     string
	Ready   time.Duration
	key     []byte // for passwords and tokens
	closing chan struct{}
	once    sync.Once
}

// Open returns a server for the data in dir, which it creates if it does not exist.
func Open(dir string, opts Options) (*Server, error) {
	opened, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{
		Store: opened, Now: opts.Now, after: opts.After, url: strings.TrimRight(opts.URL, "/"), Ready: opts.Ready,
		closing: make(chan struct{}),
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.after == nil {
		s.after = time.After
	}
	if s.key, err = opened.Key(); err != nil {
		_ = opened.Close() // the first error is the one to return
		return nil, err
	}
	return s, nil
}

// Close ends waiting calls and closes the data.
func (s *Server) Close() error {
	s.once.Do(func() { close(s.closing) })
	return s.Store.Close()
}

// BaseURL returns the address at which the client that sent r reaches the sandbox.
func (s *Server) BaseURL(r *http.Request) string {
	if s.url != "" {
		return s.url
	}
	return "http://" + r.Host
}

// Pause waits for d. It returns false if the sandbox closes first.
func (s *Server) Pause(d time.Duration) bool {
	select {
	case <-s.after(d):
		return true
	case <-s.closing:
		return false
	}
}

// Hash returns the keyed hash of a password or a token.
func (s *Server) Hash(text string) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// RedirectToPost redirects to a post on the sandbox's page.
func (s *Server) RedirectToPost(w http.ResponseWriter, r *http.Request, platform, id string) {
	address := s.BaseURL(r) + "/#" + Anchor(platform, id)
	http.Redirect(w, r, address, http.StatusSeeOther) //nolint:gosec // the base is our own, and the rest is escaped
}

// Anchor returns the name of a post on the page: the last part of its ID or address.
func Anchor(platform, id string) string {
	return platform + "-" + url.PathEscape(id[strings.LastIndexByte(id, '/')+1:])
}

// WorkContext returns a context for the work of a request. A network does not notice when a client disconnects, so the
// sandbox stores what it received.
func WorkContext(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), workTimeout)
}

const workTimeout = marker.MaxSlow + 30*time.Second

// NewID returns a random ID.
func NewID() string { return rand.Text() }

// StableID returns a numeric ID for a name that is the same in every sandbox.
func StableID(prefix, name string) string {
	sum := sha256.Sum256([]byte("sandbox " + name))
	return fmt.Sprintf("%s%016d", prefix, binary.BigEndian.Uint64(sum[:8])%1e16)
}

// LinkPattern matches a link in a text.
var LinkPattern = regexp.MustCompile(`https?://\S+`)

// IsWrongSecret reports whether a secret is the one that the sandbox rejects. It accepts all other secrets.
func IsWrongSecret(secret string) bool { return secret == "wrong-secret" }
