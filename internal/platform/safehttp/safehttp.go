// Package safehttp downloads files from https addresses that users provide. It prevents server-side request forgery
// (SSRF): it does not connect to this machine, its network or a cloud's metadata service.
//
// There are two checks. First, the text of an address must follow strict rules, so that all parsers read it in the same
// way. Second, the IP address of every connection is checked when the connection is made, even after a redirect. A name
// therefore cannot resolve to another address between the check and the connection.
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
	httpsPort        = 443
	connectTimeout   = 10 * time.Second // resolving the name and connecting
	handshakeTimeout = 10 * time.Second // for the TLS handshake
	maxHeader        = 64 << 10         // maximum size of the response header in bytes

	userAgent = "pressroom-import/1"
)

// Options configure a Client.
type Options struct {
	// Allow lists private hosts that are allowed. Each entry is a host name (with a leading dot for all subdomains), an
	// IP network such as 10.1.0.0/16, or an IP address. Allowed hosts may be used with any port. Other names that
	// resolve to an address in a listed network may only be used with port 443.
	Allow []string
	// OwnHosts lists the service's own hosts, in the same format. They are rejected unless they are in Allow.
	OwnHosts []string

	RootCAs   *x509.CertPool // nil means the system's root certificates
	Resolver  *net.Resolver  // nil means net.DefaultResolver
	Redirects int            // maximum number of redirects; 5 if 0, none if negative
	Timeout   time.Duration  // for the whole download; 10 minutes if 0
	Idle      time.Duration  // maximum time to wait for the header or for more data; 30 seconds if 0
}

// Client downloads files. It is safe for concurrent use.
type Client struct {
	allowedHosts, ownHosts hosts
	guard                  *ssrf.Guardian
	port                   uint16 // the only port for hosts that are not in Allow
	opts                   Options
	transport              *http.Transport
}

// New returns a client, or an error if an entry of Allow or OwnHosts is invalid.
func New(opts Options) (*Client, error) {
	return newClient(opts, httpsPort)
}

func newClient(opts Options, port uint16) (*Client, error) {
	allowedHosts, err := newHosts(opts.Allow)
	if err != nil {
		return nil, fmt.Errorf("reading the allowed hosts: %w", err)
	}
	ownHosts, err := newHosts(opts.OwnHosts)
	if err != nil {
		return nil, fmt.Errorf("reading the service's own hosts: %w", err)
	}
	opts.Redirects = cmp.Or(opts.Redirects, 5)
	opts.Timeout = cmp.Or(opts.Timeout, 10*time.Minute)
	opts.Idle = cmp.Or(opts.Idle, 30*time.Second)
	c := &Client{allowedHosts: allowedHosts, ownHosts: ownHosts, guard: newGuard(allowedHosts, port), port: port, opts: opts}
	c.transport = &http.Transport{ // Proxy is not set, so that proxies in the environment are ignored
		DialContext:            c.dial,
		TLSClientConfig:        &tls.Config{RootCAs: opts.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    handshakeTimeout,
		ResponseHeaderTimeout:  opts.Idle,
		MaxResponseHeaderBytes: maxHeader,
		DisableKeepAlives:      true,
		DisableCompression:     true,
	}
	return c, nil
}

// Transport returns a transport with the same restrictions, for calls to servers that users choose. It keeps
// connections alive.
func (c *Client) Transport() *http.Transport {
	t := c.transport.Clone()
	t.DisableKeepAlives, t.IdleConnTimeout, t.MaxIdleConnsPerHost = false, c.opts.Idle/2, 16
	t.ResponseHeaderTimeout = 0 // each call has a deadline
	return t
}

// File describes a downloaded file.
type File struct {
	Size int64  // bytes
	Name string // last segment of the path; untrusted, but printable and without slashes; may be empty
}

// Get downloads the file at an address to dst. It follows redirects. The file may have at most maxBytes bytes. Errors
// about the address, from the source and from the context have the type *Error. Errors from dst do not. After an error,
// part of the file may have been written.
func (c *Client) Get(ctx context.Context, address string, maxBytes int64, dst io.Writer) (File, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	for range max(c.opts.Redirects, 0) + 1 {
		got, next, err := c.fetch(ctx, address, maxBytes, dst)
		if err != nil || next == "" {
			return got, err
		}
		address = next
	}
	return File{}, unavailableError("The source redirects too many times.", nil)
}

// fetch requests one address. It returns the file, or the address of a redirect.
func (c *Client) fetch(ctx context.Context, address string, maxBytes int64, dst io.Writer) (File, string, error) {
	u, err := c.parse(address)
	if err != nil {
		return File{}, "", err
	}
	// http.Client would add cookies, a referrer and its own rules for redirects, so it is not used.
	resp, err := c.transport.RoundTrip(request(ctx, u))
	if err != nil {
		return File{}, "", connectError(err)
	}
	defer resp.Body.Close()
	if slices.Contains([]int{301, 302, 303, 307, 308}, resp.StatusCode) {
		next, err := location(u, resp.Header.Values("Location"))
		return File{}, next, err
	}
	size, err := save(resp, maxBytes, dst)
	if err != nil {
		return File{}, "", err
	}
	return File{Size: size, Name: fileName(u.Path)}, "", nil
}

func request(ctx context.Context, u *url.URL) *http.Request {
	header := http.Header{"User-Agent": {userAgent}, "Accept": {"*/*"}, "Accept-Encoding": {"identity"}}
	r := &http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: header}
	return r.WithContext(ctx)
}

// location returns the target of a redirect, which the caller must check.
func location(base *url.URL, values []string) (string, error) {
	if len(values) != 1 {
		return "", unavailableError("The source sent an invalid redirect.", nil)
	}
	if err := checkText(values[0]); err != nil {
		return "", err
	}
	to, err := url.Parse(values[0])
	if err != nil {
		return "", rejectedError(errTextMalformed)
	}
	return base.ResolveReference(to).String(), nil
}

func save(resp *http.Response, maxBytes int64, dst io.Writer) (int64, error) {
	switch {
	case resp.StatusCode != http.StatusOK:
		return 0, unavailableError(fmt.Sprintf("The source answered with status %d.", resp.StatusCode), nil)
	case len(resp.Header.Values("Content-Encoding")) > 0: // may be a decompression bomb
		return 0, unavailableError("The source sent the file in an unsupported encoding.", nil)
	case resp.ContentLength > maxBytes:
		return 0, tooLargeError()
	}
	size, err := io.Copy(dst, sourceReader{http.MaxBytesReader(nil, resp.Body, maxBytes)})
	if err != nil {
		return size, fmt.Errorf("copying the file: %w", err)
	}
	if size == 0 {
		return 0, unavailableError("The source sent an empty file.", nil)
	}
	return size, nil
}

// sourceReader converts read errors to *Error, so that they differ from write errors.
type sourceReader struct{ io.Reader }

func (s sourceReader) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == nil || err == io.EOF {
		return n, err //nolint:wrapcheck // io.EOF must stay unwrapped
	}
	return n, readError(err)
}

// fileName returns the last segment of an unescaped path, or "" if it cannot be displayed safely.
func fileName(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	unfit := func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' || r == unicode.ReplacementChar }
	if name == "." || name == ".." || strings.ContainsFunc(name, unfit) {
		return ""
	}
	return name
}
