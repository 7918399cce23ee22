// Package bridge asks a data vendor of the operator's own for profiles' media, by the small HTTP contract of
// docs/bridge.md. Nothing that comes back is trusted.
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

	"pressroom/internal/source"
)

const (
	answerWithin = 30 * time.Second
	fileWithin   = 10 * time.Minute
	maxAnswer    = 1 << 20  // bytes
	maxHeader    = 64 << 10 // bytes
	maxAfter     = 24 * time.Hour
	maxRedirects = 5
)

// Fetch writes the file at an address to into, or fails; more than most bytes are never written.
type Fetch func(ctx context.Context, address string, most int64, into io.Writer) error

// Options say where the bridge is and how it is asked.
type Options struct {
	URL     string           // base address, http or https; /v1/… is appended
	Token   string           // sent as a bearer token to the bridge alone; none where empty
	Public  Fetch            // gets files that lie elsewhere; has to be safe with any address
	HTTP    *http.Client     // one with bounds of its own where nil; its redirects and cookies are not used
	Timeout time.Duration    // for a whole answer; 30 s where 0
	Files   time.Duration    // for a whole file of the bridge's; 10 min where 0
	Now     func() time.Time // time.Now where nil
}

// Client asks one bridge. It is safe for use by many goroutines.
type Client struct {
	opts Options
	base *url.URL
	http *http.Client
}

// tokenForm is what RFC 6750 lets stand behind "Bearer".
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~+/-]*=*$`)

// New makes a client. The bridge is not asked yet; an address or a token that cannot be used is an error.
func New(opts Options) (*Client, error) {
	base, err := url.Parse(opts.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" {
		return nil, errors.New("the bridge's address is not an absolute one of http or https")
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the bridge's address has a user, a query or a fragment; it takes none")
	}
	if !tokenForm.MatchString(opts.Token) {
		return nil, errors.New("the bridge's token has characters that a bearer token cannot have")
	}
	if opts.Public == nil {
		return nil, errors.New("the bridge needs a way to fetch files that lie elsewhere")
	}
	opts.Timeout, opts.Files = orElse(opts.Timeout, answerWithin), orElse(opts.Files, fileWithin)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	c := &Client{opts: opts, base: base}
	c.http = c.confined(opts.HTTP)
	return c, nil
}

func orElse(given, usual time.Duration) time.Duration {
	if given > 0 {
		return given
	}
	return usual
}

// confined is a client that follows redirects within the bridge alone, so that the token stays there.
func (c *Client) confined(given *http.Client) *http.Client {
	client := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxResponseHeaderBytes: maxHeader, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
	}}
	if given != nil {
		own := *given
		own.Jar = nil
		client = &own
	}
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || !c.own(r.URL) {
			return errors.New("redirected too often or to elsewhere")
		}
		return nil
	}
	return client
}

// own tells whether an address is on the bridge's own scheme, host and port.
func (c *Client) own(u *url.URL) bool {
	return u.User == nil && u.Scheme == c.base.Scheme && strings.EqualFold(u.Hostname(), c.base.Hostname()) && port(u) == port(c.base)
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

// ProfileMedia asks for a page of a profile's media. Errors are source.ErrNotFound, source.ErrPrivate and
// *source.Unavailable.
func (c *Client) ProfileMedia(ctx context.Context, q source.Query) (source.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	response, err := c.get(ctx, c.address(q))
	if err != nil {
		return source.Page{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return source.Page{}, unavailable("reading the answer: %w", err)
	}
	if len(body) > maxAnswer {
		return source.Page{}, unavailable("reading the answer: it is longer than 1 MiB")
	}
	if response.StatusCode != http.StatusOK {
		return source.Page{}, refusal(response, body, c.opts.Now())
	}
	return read(body, q, c.opts.Now())
}

func (c *Client) address(q source.Query) string {
	target := c.base.JoinPath("v1", url.PathEscape(q.Platform), "profiles", url.PathEscape(q.Username), "media")
	params := url.Values{"type": {q.Type}, "limit": {strconv.Itoa(q.Limit)}}
	if q.Cursor != "" {
		params.Set("cursor", q.Cursor)
	}
	target.RawQuery = params.Encode()
	return target.String()
}

// get asks the bridge. Whoever calls closes the body.
func (c *Client) get(ctx context.Context, address string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, unavailable("the bridge's answer leads nowhere") // the error repeats the address
	}
	if c.opts.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.opts.Token)
	}
	request.Header.Set("User-Agent", "pressroom")
	response, err := c.http.Do(request)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the address, which says who was asked for
	}
	if err != nil {
		return nil, unavailable("asking the bridge: %w", err)
	}
	return response, nil
}

// Fetch writes the bytes of an item to into. A file on the bridge's own host is asked for with the token, any other
// by Options.Public, whose errors are passed on. Otherwise errors are *source.Unavailable, source.ErrTooLarge where
// there are more than most bytes, of which up to most may have been written, and those of into.
func (c *Client) Fetch(ctx context.Context, address string, most int64, into io.Writer) error {
	target, err := url.Parse(address)
	if err != nil || !c.own(target) {
		return c.opts.Public(ctx, address, most, into)
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.Files)
	defer cancel()
	response, err := c.get(ctx, address)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return unanswered(response, c.opts.Now())
	}
	if response.ContentLength > most {
		return source.ErrTooLarge
	}
	return take(body{response.Body}, most, into)
}

func take(from io.Reader, most int64, into io.Writer) error {
	taken, err := io.Copy(into, io.LimitReader(from, most))
	if err != nil {
		return fmt.Errorf("taking the file: %w", err)
	}
	further, err := io.Copy(io.Discard, io.LimitReader(from, 1))
	if err != nil {
		return fmt.Errorf("taking the file: %w", err)
	}
	if further > 0 {
		return source.ErrTooLarge
	}
	if taken == 0 {
		return unavailable("the file is empty")
	}
	return nil
}

// body tells the bridge's failures from those of whoever is written to.
type body struct{ io.Reader }

func (b body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = unavailable("reading the file: %w", err)
	}
	return n, err
}

func unavailable(format string, args ...any) *source.Unavailable {
	return &source.Unavailable{Err: fmt.Errorf(format, args...)}
}
