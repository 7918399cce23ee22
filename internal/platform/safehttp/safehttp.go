// Package safehttp gets a file from a public https address that a stranger gave, without ever touching anything
// private: neither this machine, nor the network around it, nor the metadata service of a cloud.
//
// It looks twice. The text of an address is held against strict rules before anything is looked up, so that there is
// nothing that we read differently from others; and every connection, after every redirect and for every one of a
// name's addresses, is refused by the address that is really dialled, so that it does not matter what a name resolved
// to a moment before.
package safehttp

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"code.dny.dev/ssrf"
)

const (
	securePort    = 443
	connectWithin = 10 * time.Second // looking up the name and reaching one of its addresses
	secureWithin  = 10 * time.Second // the TLS handshake
	maxHeader     = 64 << 10         // bytes of an answer's header fields

	userAgent = "pressroom-import/1"
)

// Options say what may be fetched, and how long that may take.
type Options struct {
	// Allow holds the operator's exceptions: what files may be fetched from although it is private. Each is a host name
	// (with a leading dot: every name below it), a network such as 10.1.0.0/16, or one address. An address that names
	// such a host may name any port; another name that resolves into such a network may not.
	Allow []string
	// Own holds the service's own hosts, written as in Allow. They are never fetched from, unless allowed.
	Own []string

	RootCAs   *x509.CertPool // whose certificates count; the system's where nil
	Resolver  *net.Resolver  // looks names up; net.DefaultResolver where nil
	Redirects int            // how many are followed, 5 where 0, none where negative
	Timeout   time.Duration  // for the whole fetch, 10 minutes where 0
	Idle      time.Duration  // how long a source may send nothing, and take for its header; 30 seconds where 0
}

// Client fetches files. It keeps nothing from one fetch to the next, and may be used by many at once.
type Client struct {
	allow, own hosts
	guard      *ssrf.Guardian
	port       uint16 // the only one of hosts that are not allowed
	opts       Options
	transport  *http.Transport
}

// New makes a client. An entry of Allow or Own that is neither a host name nor a network is an error.
func New(opts Options) (*Client, error) {
	return newClient(opts, securePort)
}

func newClient(opts Options, port uint16) (*Client, error) {
	allow, err := newHosts(opts.Allow)
	if err != nil {
		return nil, fmt.Errorf("reading what is allowed: %w", err)
	}
	own, err := newHosts(opts.Own)
	if err != nil {
		return nil, fmt.Errorf("reading the service's own hosts: %w", err)
	}
	opts.Redirects = cmp.Or(opts.Redirects, 5)
	opts.Timeout = cmp.Or(opts.Timeout, 10*time.Minute)
	opts.Idle = cmp.Or(opts.Idle, 30*time.Second)
	c := &Client{allow: allow, own: own, guard: newGuard(allow, port), port: port, opts: opts}
	c.transport = &http.Transport{ // without a Proxy: whatever the environment names is not asked
		DialContext:            c.dial,
		TLSClientConfig:        &tls.Config{RootCAs: opts.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    secureWithin,
		ResponseHeaderTimeout:  opts.Idle,
		MaxResponseHeaderBytes: maxHeader,
		DisableKeepAlives:      true,
		DisableCompression:     true,
	}
	return c, nil
}

// Transport is one for calls to servers that strangers name. It reaches what may be fetched from, and keeps
// connections.
func (c *Client) Transport() *http.Transport {
	t := c.transport.Clone()
	t.DisableKeepAlives, t.IdleConnTimeout, t.MaxIdleConnsPerHost = false, c.opts.Idle/2, 16
	t.ResponseHeaderTimeout = 0 // each call has a deadline
	return t
}

// Got is what a fetch brought.
type Got struct {
	Size int64 // bytes
	// how the source names the file, chosen by a stranger: no path, nothing that does not print; may be empty
	Name string
}

// Get writes the file at an address into a writer, following redirects, as long as it has no more than most bytes.
// What the address or its source is to blame for is a *Error, and so is a context that ended; an error of the writer's
// is not. After an error, part of the file may have been written.
func (c *Client) Get(ctx context.Context, address string, most int64, into io.Writer) (Got, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	for range max(c.opts.Redirects, 0) + 1 {
		got, next, err := c.step(ctx, address, most, into)
		if err != nil || next == "" {
			return got, err
		}
		address = next
	}
	return Got{}, unavailable("The source redirects too often.", nil)
}

// step asks one address: it gives the file, or the address to which the source redirects.
func (c *Client) step(ctx context.Context, address string, most int64, into io.Writer) (Got, string, error) {
	u, err := c.parse(address)
	if err != nil {
		return Got{}, "", err
	}
	// No http.Client: it would add cookies, a referrer and rules of its own for redirects.
	resp, err := c.transport.RoundTrip(request(ctx, u))
	if err != nil {
		return Got{}, "", unreached(err)
	}
	defer resp.Body.Close()
	if slices.Contains([]int{301, 302, 303, 307, 308}, resp.StatusCode) {
		next, err := location(u, resp.Header.Values("Location"))
		return Got{}, next, err
	}
	size, err := save(resp, most, into)
	if err != nil {
		return Got{}, "", err
	}
	return Got{Size: size, Name: name(u.Path)}, "", nil
}

func request(ctx context.Context, u *url.URL) *http.Request {
	header := http.Header{"User-Agent": {userAgent}, "Accept": {"*/*"}, "Accept-Encoding": {"identity"}}
	r := &http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: header}
	return r.WithContext(ctx)
}

// location is where a redirect leads, still to be held against the rules.
func location(from *url.URL, values []string) (string, error) {
	if len(values) != 1 {
		return "", unavailable("The source redirects to no address.", nil)
	}
	if err := wellWritten(values[0]); err != nil {
		return "", err
	}
	to, err := url.Parse(values[0])
	if err != nil {
		return "", refused(malformed)
	}
	return from.ResolveReference(to).String(), nil
}

func save(resp *http.Response, most int64, into io.Writer) (int64, error) {
	switch {
	case resp.StatusCode != http.StatusOK:
		return 0,
			unavailable(fmt.Sprintf("The source answered with the status %d instead of the file.", resp.StatusCode),
				nil)
	case len(resp.Header.Values("Content-Encoding")) > 0: // what was not asked for may be a bomb
		return 0, unavailable("The source sent the file in an encoding that was not asked for.", nil)
	case resp.ContentLength > most:
		return 0, tooLarge()
	}
	size, err := io.Copy(into, source{http.MaxBytesReader(nil, resp.Body, most)})
	if err != nil {
		return size, fmt.Errorf("copying the file: %w", err)
	}
	if size == 0 {
		return 0, unavailable("The source sent an empty file.", nil)
	}
	return size, nil
}

// source makes an error of reading the source's fault, which tells it from one of writing.
type source struct{ io.Reader }

func (s source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == nil || err == io.EOF {
		return n, err //nolint:wrapcheck // io.EOF has to stay itself
	}
	return n, broken(err)
}

// name is the last segment of a path, where that is fit to be shown. It is cut from the path as it was unescaped, so
// that no escaped slash is left in it.
func name(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	unfit := func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' || r == unicode.ReplacementChar }
	if name == "." || name == ".." || strings.ContainsFunc(name, unfit) {
		return ""
	}
	return name
}
