// Package bluesky publishes to Bluesky and every other server of the AT Protocol, by its own XRPC calls
// over plain HTTP with an app password's session.
//
// Images and videos are uploaded first, as blobs that nobody sees, and the record then names them.
//
// A post is a record in the account's repository, under a key that we choose ourselves. The key and the
// creation time are fixed before anything is sent and the record is only ever created, never replaced, so
// the same publication sent any number of times makes one post.
package bluesky

import (
	"cmp"
	"strings"

	"pressroom/internal/network"
)

const (
	platform      = "bluesky"
	defaultWebURL = "https://bsky.app"
)

// Options are what an operator or a test may set. The zero value is the real network, which needs no app.
type Options struct {
	network.App

	WebURL string `json:"web_url"` // base of permalinks
}

// Network is Bluesky's publishing protocol. It keeps nothing between calls.
type Network struct {
	client *network.Client
	opts   Options
}

var _ network.Network = (*Network)(nil)

// New makes the network with opts.
func New(opts Options) *Network {
	opts.App = opts.Complete(platform)
	opts.WebURL = strings.TrimRight(cmp.Or(opts.WebURL, defaultWebURL), "/")
	return &Network{network.NewClient(opts.HTTP), opts}
}

// Platform is the network's name in the contract.
func (n *Network) Platform() string { return platform }

// Check finds what the network would not take.
func (n *Network) Check(c network.Content) []network.Problem { return n.opts.Rules.Check(c) }

// Takes is what it is checked by.
func (n *Network) Takes() network.Rules { return *n.opts.Rules }
