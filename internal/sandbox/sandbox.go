// Package sandbox is a set of social networks to try pressroom with: one HTTP server that speaks each
// network's official protocol, keeps what was published, and misbehaves on request.
//
// Each network is mounted under its own name, so Bluesky's calls go to /bluesky/xrpc/…; GET /held counts
// what the networks hold and GET / shows it. A marker in a post's text asks for a certain outcome, as in
// "[sandbox:reject]"; see marker.go for all of them. Nothing that a sandbox has confirmed is lost, even if the
// process is killed.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options are what a caller may set. The zero value is right outside tests.
type Options struct {
	Now   func() time.Time                     // time.Now by default
	After func(time.Duration) <-chan time.Time // time.After by default; what [sandbox:slow=…] waits for
	URL   string                               // base URL that clients use; taken from each request where empty
	// how long a network works on what it was given before it can be published; not at all by default
	Ready time.Duration
}

// Server holds the sandbox networks' data and answers for them. It is safe for use by many goroutines.
type Server struct {
	store   *store
	now     func() time.Time
	after   func(time.Duration) <-chan time.Time
	url     string
	ready   time.Duration
	key     []byte // for passwords and tokens
	handler http.Handler
	closing chan struct{}
	once    sync.Once
}

// platform is one network: it answers everything below its name.
type platform interface {
	name() string  // in the contract, such as "bluesky"
	title() string // for people
	handler() http.Handler
	settle(context.Context) error // makes the people that it begins with
}

// platforms are all networks, in the order of the page.
func (s *Server) platforms() []platform {
	return []platform{
		&bluesky{Server: s},
		newInstagram(s),
		newThreads(s),
		newLinkedin(s),
		newFacebook(s),
		newX(s),
		newPinterest(s),
		newYouTube(s),
		newTikTok(s),
	}
}

// Open opens the sandbox that keeps its data in dir, and makes it where there is none.
func Open(dir string, opts Options) (*Server, error) {
	held, err := openStore(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the sandbox in %s: %w", dir, err)
	}
	key, err := held.ownKey()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the sandbox in %s: %w", dir, err), held.close())
	}
	s := &Server{
		key: key, store: held, now: opts.Now, after: opts.After, url: strings.TrimRight(opts.URL, "/"),
		ready: opts.Ready, closing: make(chan struct{}),
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.after == nil {
		s.after = time.After
	}
	platforms := s.platforms()
	for _, p := range platforms {
		if err := p.settle(context.Background()); err != nil {
			return nil, errors.Join(fmt.Errorf("opening the sandbox in %s: %w", dir, err), held.close())
		}
	}
	s.handler = s.routes(platforms...)
	return s, nil
}

func (s *Server) routes(platforms ...platform) http.Handler {
	mux := http.NewServeMux()
	for _, p := range platforms {
		prefix := "/" + p.name()
		mux.Handle(prefix+"/", http.StripPrefix(prefix, p.handler()))
	}
	mux.Handle("/vendor/", http.StripPrefix("/vendor", s.vendorHandler()))
	mux.Handle("GET /held", s.heldHandler())
	mux.Handle("GET /{$}", s.pageHandler(platforms))
	mux.Handle("GET /style.css", styleHandler())
	return mux
}

// Handler answers every request to the sandbox.
func (s *Server) Handler() http.Handler { return s.handler }

// Close ends waiting answers and lets go of the data.
func (s *Server) Close() error {
	s.once.Do(func() { close(s.closing) })
	return s.store.close()
}

// baseURL is where the client that sent r reaches the sandbox.
func (s *Server) baseURL(r *http.Request) string {
	if s.url != "" {
		return s.url
	}
	return "http://" + r.Host
}

// pause waits for d. It is false when the sandbox closes first.
func (s *Server) pause(d time.Duration) bool {
	select {
	case <-s.after(d):
		return true
	case <-s.closing:
		return false
	}
}

// work is the context of what a request sets off. A real network does not notice a client that goes away, so
// the sandbox stores what it was sent all the same, but never works on it without end.
func work(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), workTimeout)
}

const workTimeout = maxSlow + 30*time.Second
