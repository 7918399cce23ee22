package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// apiPath is the path of the API below the service's address.
const apiPath = "/api/v1"

// Client calls the operations of one team. It is safe for concurrent use.
type Client struct {
	base  *url.URL                              // the service's address, including apiPath
	key   func(context.Context) (string, error) // returns the API key or access token
	http  *http.Client
	agent string
	plain bool // whether the API key may be sent over plain HTTP to other machines
	retry retry
}

// Option is an option for [New].
type Option func(*Client)

// WithHTTPClient sets the HTTP client, for example to configure proxies or certificates. Redirects are not followed.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) { c.http = h }
}

// WithAttempts sets the maximum number of attempts per call; 1 means no retries. The default is 5.
func WithAttempts(n int) Option {
	return func(c *Client) { c.retry.attempts = n }
}

// WithMaxPause sets the maximum pause before a retry. If an error response requires a longer pause, the call returns
// the error immediately. The default is one minute.
func WithMaxPause(d time.Duration) Option {
	return func(c *Client) { c.retry.maxPause = d }
}

// WithAttemptTimeout sets the timeout of one attempt. The default is one minute. The timeout does not apply to sending
// files.
func WithAttemptTimeout(d time.Duration) Option {
	return func(c *Client) { c.retry.attemptTimeout = d }
}

// WithUserAgent sets the User-Agent header.
func WithUserAgent(name string) Option {
	return func(c *Client) { c.agent = name }
}

// WithCredential sets a function that returns the credential for each call, such as an OAuth access token. It replaces
// the API key that was passed to [New]. If the function returns an error, the call returns that error without sending a
// request.
func WithCredential(credential func(context.Context) (string, error)) Option {
	return func(c *Client) { c.key = credential }
}

// WithPlainHTTP allows sending the API key over plain HTTP to another machine. Everybody on the network path can then
// read the key.
func WithPlainHTTP() Option {
	return func(c *Client) { c.plain = true }
}

// New returns a client. address is the service's address, such as https://press.example.com, with or without /api/v1.
// key is the team's API key. New does not send a request. Plain HTTP is allowed only to this machine.
func New(address, key string, options ...Option) (*Client, error) {
	c := &Client{http: &http.Client{}, agent: "pressroom-go", retry: newRetry()}
	for _, option := range options {
		option(c)
	}
	if c.key == nil {
		key = strings.TrimSpace(key)
		if err := checkKey(key); err != nil {
			return nil, err
		}
		c.key = func(context.Context) (string, error) { return key, nil }
	}
	base, err := url.Parse(address)
	if err != nil {
		// Do not return the url package's error, because it could contain a secret.
		return nil, errors.New("the address is not a URL; it must begin with https:// and a host")
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the service's address must not have a user name, a query or a fragment")
	}
	if err := c.checkAddress(base); err != nil {
		return nil, err
	}
	base.Path = strings.TrimSuffix(strings.TrimRight(base.Path, "/"), apiPath) + apiPath
	base.RawPath = ""
	c.base = base
	c.http = withoutRedirects(c.http)
	return c, nil
}

func checkKey(key string) error {
	if key == "" {
		return errors.New("the API key is empty")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the API key contains invalid characters")
	}
	return nil
}

// checkAddress returns an error if sending a secret to a URL is unsafe.
func (c *Client) checkAddress(target *url.URL) error {
	switch {
	case target.Host == "":
		return errors.New("the address must begin with https:// and a host")
	case target.Scheme == "https":
		return nil
	case target.Scheme != "http":
		return fmt.Errorf("the address must begin with https://, but its scheme is %q", target.Scheme)
	case c.plain || isLoopback(target.Hostname()):
		return nil
	}
	return errors.New("plain HTTP to another machine would expose the secret: use https, or allow plain HTTP with WithPlainHTTP")
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// withoutRedirects returns a copy of h that does not follow redirects. The API does not use redirects, and API keys
// must not be sent to other hosts.
func withoutRedirects(h *http.Client) *http.Client {
	out := *h
	out.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	out.Jar = nil
	return &out
}
