// Package bridge asks a data vendor of the operator's own for profiles' media and for the public figures of profiles and
// hashtags, by the small HTTP contract of docs/bridge.md. Nothing that comes back is trusted.
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

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/provider/wire"
)

const (
	answerWithin = 30 * time.Second
	fileWithin   = 10 * time.Minute
	maxAnswer    = 1 << 20 // bytes
	maxRedirects = 5
)

// Fetch writes the file at an address to into, or fails; more than most bytes are never written.
type Fetch func(ctx context.Context, address string, most int64, into io.Writer) error

// Options say where the bridge is and how it is asked.
type Options struct {
	// URL is the bridge's base address, http or https; /v1/… is appended.
	URL string `json:"url"`
	// TokenEnv names the variable of the environment in which the bridge's token is; none where empty.
	TokenEnv string `json:"token_env"`

	Token   string           `json:"-"` // what TokenEnv holds: sent as a bearer token to the bridge alone; none where empty
	Public  Fetch            `json:"-"` // gets files that lie elsewhere; has to be safe with any address
	HTTP    *http.Client     `json:"-"` // one with bounds of its own where nil; its redirects and cookies are not used
	Timeout time.Duration    `json:"-"` // for a whole answer; 30 s where 0
	Files   time.Duration    `json:"-"` // for a whole file of the bridge's; 10 min where 0
	Now     func() time.Time `json:"-"` // time.Now where nil
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
	c.http = wire.Client(opts.HTTP, c.within)
	return c, nil
}

func orElse(given, usual time.Duration) time.Duration {
	if given > 0 {
		return given
	}
	return usual
}

// within keeps redirects to the bridge itself, so that the token stays there.
func (c *Client) within(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || !c.own(r.URL) {
		return errors.New("redirected too often or to elsewhere")
	}
	return nil
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

// ProfileMedia asks for a page of a profile's media. Errors are provider.ErrNotFound, provider.ErrPrivate,
// provider.ErrNotOffered and *provider.Unavailable.
func (c *Client) ProfileMedia(ctx context.Context, q provider.Query) (provider.Page, error) {
	params := url.Values{"type": {q.Type}, "limit": {strconv.Itoa(q.Limit)}}
	if q.Cursor != "" {
		params.Set("cursor", q.Cursor)
	}
	body, err := c.ask(ctx, maxAnswer, params, q.Platform, "profiles", q.Username, "media")
	if err != nil {
		return provider.Page{}, err
	}
	return read(body, q, c.opts.Now())
}

// ask is one question at a path below /v1; the answer may have so many bytes.
func (c *Client) ask(ctx context.Context, most int64, params url.Values, path ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	target := c.base.JoinPath("v1")
	for _, part := range path {
		target = target.JoinPath(url.PathEscape(part))
	}
	target.RawQuery = params.Encode()
	request, err := c.request(ctx, target.String())
	if err != nil {
		return nil, err
	}
	answer, err := wire.Ask(c.http, request, most)
	if err != nil {
		return nil, err
	}
	if answer.Status != http.StatusOK {
		return nil, refusal(answer, c.opts.Now())
	}
	return answer.Body, nil
}

// request is one to the bridge.
func (c *Client) request(ctx context.Context, address string) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, wire.Unavailable("the bridge's answer leads nowhere") // the error repeats the address
	}
	if c.opts.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.opts.Token)
	}
	return request, nil
}

// Fetch writes the bytes of an item to into. A file on the bridge's own host is asked for with the token, any other
// by Options.Public, whose errors are passed on. Otherwise errors are *provider.Unavailable, provider.ErrTooLarge where
// there are more than most bytes, of which up to most may have been written, and those of into.
func (c *Client) Fetch(ctx context.Context, address string, most int64, into io.Writer) error {
	target, err := url.Parse(address)
	if err != nil || !c.own(target) {
		return c.opts.Public(ctx, address, most, into)
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.Files)
	defer cancel()
	request, err := c.request(ctx, address)
	if err != nil {
		return err
	}
	response, err := wire.Do(c.http, request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return unanswered(response.StatusCode, response.Header, c.opts.Now())
	}
	if response.ContentLength > most {
		return provider.ErrTooLarge
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
		return provider.ErrTooLarge
	}
	if taken == 0 {
		return wire.Unavailable("the file is empty")
	}
	return nil
}

// body tells the bridge's failures from those of whoever is written to.
type body struct{ io.Reader }

func (b body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = wire.Unavailable("reading the file: %w", err)
	}
	return n, err
}
