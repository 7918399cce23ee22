// Package threads publishes to Threads by its Graph API, for accounts that are connected in a browser.
//
// A post is made in two steps. First a container is created: the network fetches the media from addresses that it is
// given and works on them, and nobody sees anything. Then the container is published. A container can be published
// once alone, and says whether it was, so no answer that is lost makes two posts.
package threads

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

const (
	platform         = "threads"
	defaultAuthorize = "https://threads.net"
	defaultGraph     = "https://graph.threads.net"
	defaultVersion   = "v1.0"
)

// defaultScopes are what publishing needs.
var defaultScopes = []string{"threads_basic", "threads_content_publish"}

// Options are what an operator or a test may set. The zero value is the real network, without an app to connect
// accounts for.
type Options struct {
	network.App

	AuthorizeHost string `json:"authorize_host"` // base URL of the consent page
	GraphHost     string `json:"graph_host"`     // base URL of the API; an account keeps the one it was connected by
	Version       string `json:"version"`        // of the API
}

// Network is Threads' publishing protocol. It keeps nothing between calls.
type Network struct {
	graph *graph.Client
	opts  Options
}

var _ network.Authorizer = (*Network)(nil)

// New makes the network with opts.
func New(opts Options) *Network {
	opts = opts.complete()
	return &Network{graph.New(opts.App), opts}
}

func (o Options) complete() Options {
	o.App = o.Complete(platform, defaultScopes...)
	o.AuthorizeHost = cmp.Or(o.AuthorizeHost, defaultAuthorize)
	o.GraphHost = cmp.Or(o.GraphHost, defaultGraph)
	o.Version = cmp.Or(o.Version, defaultVersion)
	o.AuthorizeHost = strings.TrimRight(o.AuthorizeHost, "/")
	o.GraphHost = strings.TrimRight(o.GraphHost, "/")
	return o
}

// Platform is the network's name in the contract.
func (n *Network) Platform() string { return platform }

// Check finds what the network would not take.
func (n *Network) Check(c network.Content) []network.Problem { return n.opts.Rules.Check(c) }

// on is a call of the versioned API by an account.
func (n *Network) on(g network.Grant, method, path string, params url.Values, out any) graph.Call {
	return graph.Call{Method: method, Server: g.Server, Path: n.opts.Version + "/" + path, Token: g.Access, Params: params, Out: out}
}

// Connect always fails: there are no passwords here.
func (n *Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.Unusable(errors.New("a Threads account is connected in a browser"))
}
