// Package bridge fetches profile media and public metrics of profiles and hashtags from a bridge: an HTTP service that
// the operator runs, with the API described in docs/bridge.md. Responses are untrusted.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
)

const (
	defaultTimeout     = 30 * time.Second
	defaultFileTimeout = 10 * time.Minute
	maxResponseBytes   = 1 << 20 // bytes
	maxRedirects       = 5
)

// Fetch downloads a file to dst. It writes at most limit bytes.
type Fetch func(ctx context.Context, address string, limit int64, dst io.Writer) error

// Options configures a Client.
type Options struct {
	// URL is the bridge's base URL with the scheme http or https. /v1/… is appended.
	URL         string
	Token       string           // sent only to the bridge, as a bearer token; empty if the bridge needs none
	FetchPublic Fetch            // downloads files on other hosts; must be safe for any URL
	HTTP        *http.Client     // default: a client with limits; its redirect policy and cookie jar are ignored
	Timeout     time.Duration    // per response; default 30 s
	FileTimeout time.Duration    // per file on the bridge; default 10 min
	Now         func() time.Time // default: time.Now
}

// Client is a client of a bridge. It is safe for concurrent use.
type Client struct {
	opts Options
	base *url.URL
	http *http.Client
}

// tokenPattern is the syntax of bearer tokens (RFC 6750).
var tokenPattern = regexp.MustCompile(`^[A-Za-z0-9._~+/-]*=*$`)

// New returns a Client. It returns an error if the URL or the token is invalid. It does not send a request.
func New(opts Options) (*Client, error) {
	base, err := url.Parse(opts.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" {
		return nil, errors.New("the bridge's URL must be absolute with scheme http or https")
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the bridge's URL must not have a user, query or fragment")
	}
	if !tokenPattern.MatchString(opts.Token) {
		return nil, errors.New("the bridge's token has characters that are invalid in bearer tokens")
	}
	if opts.FetchPublic == nil {
		return nil, errors.New("the bridge needs a function to fetch files from other hosts")
	}
	opts.Timeout, opts.FileTimeout = orElse(opts.Timeout, defaultTimeout), orElse(opts.FileTimeout, defaultFileTimeout)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	c := &Client{opts: opts, base: base}
	c.http = wire.NewClient(opts.HTTP, c.checkRedirect)
	return c, nil
}

// orElse returns value if it is positive, and fallback otherwise.
func orElse(value, fallback time.Duration) time.Duration {
	if value > 0 {
		return value
	}
	return fallback
}

// checkRedirect allows only redirects to the bridge itself, so that the token is not leaked.
func (c *Client) checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || !c.isOwnURL(r.URL) {
		return errors.New("too many redirects, or a redirect to another host")
	}
	return nil
}

// isOwnURL reports whether a URL has the bridge's scheme, host and port.
func (c *Client) isOwnURL(u *url.URL) bool {
	return u.User == nil && u.Scheme == c.base.Scheme && strings.EqualFold(u.Hostname(), c.base.Hostname()) &&
		port(u) == port(c.base)
}

func port(u *url.URL) string {
	if u.Port() == "" && u.Scheme == "https" {
		return "443"
	}
	if u.Port() == "" {
		return "80"
	}
	return u.Port()
}

// ProfileMedia returns a page of a profile's media. Its errors are provider.ErrNotFound, provider.ErrPrivate,
// provider.ErrNotOffered and *provider.UnavailableError.
func (c *Client) ProfileMedia(ctx context.Context, q provider.Query) (provider.Page, error) {
	params := url.Values{"type": {q.Type}, "limit": {strconv.Itoa(q.Limit)}}
	if q.Cursor != "" {
		params.Set("cursor", q.Cursor)
	}
	body, err := c.get(ctx, maxResponseBytes, params, q.Platform, "profiles", q.Username, "media")
	if err != nil {
		return provider.Page{}, err
	}
	return readPage(body, q, c.opts.Now())
}

// get requests a path below /v1 and returns the response body. It returns an error if the body exceeds limit.
func (c *Client) get(ctx context.Context, limit int64, params url.Values, path ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	target := c.base.JoinPath("v1")
	for _, part := range path {
		target = target.JoinPath(url.PathEscape(part))
	}
	target.RawQuery = params.Encode()
	request, err := c.newRequest(ctx, target.String())
	if err != nil {
		return nil, err
	}
	response, err := wire.Send(c.http, request, limit)
	if err != nil {
		return nil, err
	}
	if response.Status != http.StatusOK {
		return nil, readError(response, c.opts.Now())
	}
	return response.Body, nil
}

// newRequest creates a request to the bridge.
func (c *Client) newRequest(ctx context.Context, address string) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, wire.Unavailable("the bridge returned an invalid URL") // err contains the URL
	}
	if c.opts.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.opts.Token)
	}
	return request, nil
}

// Fetch downloads a file. If the file is on the bridge's host, Fetch sends the token. It returns
// *provider.UnavailableError, provider.ErrTooLarge if the file exceeds limit (a part may have been written), or the
// error of dst. Options.FetchPublic downloads all other files, and Fetch returns its errors.
func (c *Client) Fetch(ctx context.Context, address string, limit int64, dst io.Writer) error {
	target, err := url.Parse(address)
	if err != nil || !c.isOwnURL(target) {
		return c.opts.FetchPublic(ctx, address, limit, dst)
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.FileTimeout)
	defer cancel()
	request, err := c.newRequest(ctx, address)
	if err != nil {
		return err
	}
	response, err := wire.Do(c.http, request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return unavailableError(response.StatusCode, response.Header, c.opts.Now())
	}
	if response.ContentLength > limit {
		return provider.ErrTooLarge
	}
	return copyFile(bodyReader{response.Body}, limit, dst)
}

// copyFile copies at most limit bytes. It returns an error if the file is longer or empty.
func copyFile(src io.Reader, limit int64, dst io.Writer) error {
	n, err := io.Copy(dst, io.LimitReader(src, limit))
	if err != nil {
		return fmt.Errorf("downloading the file: %w", err)
	}
	extra, err := io.Copy(io.Discard, io.LimitReader(src, 1))
	if err != nil {
		return fmt.Errorf("downloading the file: %w", err)
	}
	if extra > 0 {
		return provider.ErrTooLarge
	}
	if n == 0 {
		return wire.Unavailable("the file is empty")
	}
	return nil
}

// bodyReader marks errors in reading from the bridge, to distinguish them from write errors.
type bodyReader struct{ io.Reader }

func (b bodyReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = wire.Unavailable("reading the file: %w", err)
	}
	return n, err
}
