// Package threads publishes to Threads by its Graph API, for accounts that are connected in a browser.
//
// A post is made in two steps. First a container is created: the network fetches the media from addresses that it is
// given and works on them, and nobody sees anything. Then the container is published. A container can be published
// once alone, and says whether it was, so no answer that is lost makes two posts.
package threads

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"pressroom/internal/network"
)

const (
	defaultAuthorize = "https://threads.net"
	defaultGraph     = "https://graph.threads.net"
	defaultVersion   = "v1.0"
	callTimeout      = 20 * time.Second
)

// defaultScopes are what publishing needs.
var defaultScopes = []string{"threads_basic", "threads_content_publish"}

// Options are what an operator or a test may set. The zero value is the real network, without an app to connect
// accounts for.
type Options struct {
	HTTP          *http.Client     // its Timeout bounds each call, 20 seconds where it has none; one for which the network fetches a file has three of them
	Now           func() time.Time // time.Now by default
	AuthorizeHost string           // base URL of the consent page, https://threads.net by default
	GraphHost     string           // base URL of the API, https://graph.threads.net by default; an account keeps the one it was connected by
	Version       string           // of the API, v1.0 by default
	ClientID      string           // the operator's app
	ClientSecret  string
	Scopes        []string // asked for at the consent; what publishing needs by default
	Limits        Limits   // TodaysLimits by default
}

// Network is Threads' publishing protocol. It keeps nothing between calls.
type Network struct {
	http    *http.Client
	timeout time.Duration
	opts    Options
}

var _ network.Authorizer = (*Network)(nil)

// New makes the network with opts.
func New(opts Options) *Network {
	n := &Network{http: new(http.Client), timeout: callTimeout, opts: opts.complete()}
	if opts.HTTP != nil {
		*n.http = *opts.HTTP
	}
	if n.http.Timeout > 0 {
		n.timeout, n.http.Timeout = n.http.Timeout, 0 // each call has its own deadline
	}
	// A redirect would carry a token or the app's secret to an address that nobody has chosen.
	n.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return n
}

func (o Options) complete() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.AuthorizeHost == "" {
		o.AuthorizeHost = defaultAuthorize
	}
	if o.GraphHost == "" {
		o.GraphHost = defaultGraph
	}
	if o.Version == "" {
		o.Version = defaultVersion
	}
	if len(o.Scopes) == 0 {
		o.Scopes = defaultScopes
	}
	if o.Limits == (Limits{}) {
		o.Limits = TodaysLimits
	}
	o.AuthorizeHost = strings.TrimRight(o.AuthorizeHost, "/")
	o.GraphHost = strings.TrimRight(o.GraphHost, "/")
	return o
}

// Platform is the network's name in the contract.
func (n *Network) Platform() string { return "threads" }

// Connect always fails: there are no passwords here.
func (n *Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, unusable(errors.New("a Threads account is connected in a browser"))
}

// unusable is an error of ours that no repeat can mend; nothing has been sent.
func unusable(err error) *network.Error { return &network.Error{Class: network.Rejected, Err: err} }

// unreadable is an answer that makes no sense to a call that shows nothing.
func unreadable(err error) *network.Error {
	return &network.Error{Class: network.Transient, Status: http.StatusOK, Err: err}
}
