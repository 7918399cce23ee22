package client

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// apiPath is where the API begins, below the service's address.
const apiPath = "/api/v1"

// Client calls the operations of one team. Many goroutines may use it.
type Client struct {
	base  *url.URL // with apiPath
	key   string
	http  *http.Client
	agent string
	plain bool // whether the key may go over plain HTTP to other machines
	retry retry
}

// Option changes how a client works.
type Option func(*Client)

// WithHTTPClient uses another client's transport, for proxies or certificates. Its redirects are not followed.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) { c.http = h }
}

// WithAttempts says how often a call is tried at most; 1 repeats nothing. 5 where it is not said.
func WithAttempts(n int) Option {
	return func(c *Client) { c.retry.attempts = n }
}

// WithLongestWait says how long one pause may be: an answer that asks for more is given back at once. A minute where
// it is not said.
func WithLongestWait(d time.Duration) Option {
	return func(c *Client) { c.retry.longest = d }
}

// WithAttemptTimeout says how long one attempt may take until it counts as unanswered. A minute where it is not said.
// Sending files is not bound by it.
func WithAttemptTimeout(d time.Duration) Option {
	return func(c *Client) { c.retry.attempt = d }
}

// WithUserAgent names the calling program.
func WithUserAgent(name string) Option {
	return func(c *Client) { c.agent = name }
}

// WithPlainHTTP lets the key go over http to another machine, where whoever is in between can read it.
func WithPlainHTTP() Option {
	return func(c *Client) { c.plain = true }
}

// New is a client for the service at an address such as https://press.example.com, with or without /api/v1, and an
// API key of the team. It calls nothing. Plain http is refused but for the own machine.
func New(address, key string, options ...Option) (*Client, error) {
	c := &Client{key: strings.TrimSpace(key), http: &http.Client{}, agent: "pressroom-go", retry: newRetry()}
	for _, option := range options {
		option(c)
	}
	if c.key == "" {
		return nil, errors.New("no API key is given")
	}
	if strings.ContainsFunc(c.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the API key holds characters that no key has")
	}
	base, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the service's address is no URL") // the error of url would repeat what may be a secret
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the service's address has a user name, a query or a fragment")
	}
	if err := c.safe(base); err != nil {
		return nil, err
	}
	base.Path = strings.TrimSuffix(strings.TrimRight(base.Path, "/"), apiPath) + apiPath
	base.RawPath = ""
	c.base = base
	c.http = unfollowing(c.http)
	return c, nil
}

// safe refuses addresses to which no secret may go.
func (c *Client) safe(to *url.URL) error {
	switch {
	case to.Host == "":
		return errors.New("the address has to begin with https:// and a host")
	case to.Scheme == "https":
		return nil
	case to.Scheme != "http":
		return fmt.Errorf("the address has the scheme %q in place of https", to.Scheme)
	case c.plain || loopback(to.Hostname()):
		return nil
	}
	return errors.New("over plain http to another machine everybody in between could read the secret: use https, or " +
		"allow it with WithPlainHTTP")
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// unfollowing is a copy that follows no redirect: the API has none, and a key is never to reach another host.
func unfollowing(h *http.Client) *http.Client {
	own := *h
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	own.Jar = nil
	return &own
}
