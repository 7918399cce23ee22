package sandbox

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
)

// Options are the settings of a sandbox. The zero value is right outside tests.
type Options struct {
	Now   func() time.Time                     // time.Now by default
	After func(time.Duration) <-chan time.Time // time.After by default; what [sandbox:slow=…] waits for
	URL   string                               // base URL that clients use; by default that of each request
	Ready time.Duration                        // how long a network processes media before it can be published
}

// shared is what all networks have in common: the data, the clock and the address.
type shared struct {
	store   *store
	now     func() time.Time
	after   func(time.Duration) <-chan time.Time
	url     string
	ready   time.Duration
	key     []byte // for passwords and tokens
	closing chan struct{}
	once    sync.Once
}

// newShared returns a server for the data in dir, which it creates if it does not exist.
func newShared(dir string, opts Options) (*shared, error) {
	opened, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	s := &shared{
		store: opened, now: opts.Now, after: opts.After, url: strings.TrimRight(opts.URL, "/"), ready: opts.Ready,
		closing: make(chan struct{}),
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.after == nil {
		s.after = time.After
	}
	if s.key, err = opened.ownKey(); err != nil {
		_ = opened.close() // the first error is the one to return
		return nil, err
	}
	return s, nil
}

// close ends the calls that wait and closes the data.
func (s *shared) close() error {
	s.once.Do(func() { close(s.closing) })
	return s.store.close()
}

// baseURL returns the address at which the client that sent r reaches the sandbox.
func (s *shared) baseURL(r *http.Request) string {
	if s.url != "" {
		return s.url
	}
	return "http://" + r.Host
}

// pause waits for d. It reports false if the sandbox closes first.
func (s *shared) pause(d time.Duration) bool {
	select {
	case <-s.after(d):
		return true
	case <-s.closing:
		return false
	}
}

// seal returns the keyed hash of a password or a token.
func (s *shared) seal(text string) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// redirectToPost redirects to a post on the sandbox's page.
func (s *shared) redirectToPost(w http.ResponseWriter, r *http.Request, platform, id string) {
	address := s.baseURL(r) + "/#" + anchor(platform, id)
	http.Redirect(w, r, address, http.StatusSeeOther) //nolint:gosec // the base is our own, and the rest is escaped
}

// anchor returns the name of a post on the page: the last part of its id or address.
func anchor(platform, id string) string {
	return platform + "-" + url.PathEscape(id[strings.LastIndexByte(id, '/')+1:])
}

// work returns a context for the work of a request. A network does not notice when a client disconnects, so the sandbox
// stores what it received.
func work(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), workTimeout)
}

const workTimeout = maxSlow + 30*time.Second

// newID returns a random id.
func newID() string { return rand.Text() }

// stableID returns a numeric id for a name that is the same in every sandbox.
func stableID(prefix, name string) string {
	sum := sha256.Sum256([]byte("sandbox " + name))
	return fmt.Sprintf("%s%016d", prefix, binary.BigEndian.Uint64(sum[:8])%1e16)
}

// linkPattern matches a link in a text.
var linkPattern = regexp.MustCompile(`https?://\S+`)
