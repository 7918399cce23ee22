// Package bluesky publishes to Bluesky and to any other server of the AT Protocol, through XRPC calls over HTTP in
// a session opened with an app password.
//
// Images and videos are uploaded first, as blobs that are not visible. Bluesky's video service processes videos before
// they are posted. The post's record then refers to the blobs.
//
// A post is a record in the account's repository with a key that this package chooses. The key and the creation time
// are fixed before the first request, and Commit never replaces a record. Publishing the same post again therefore
// never creates a second post.
//
// Sources: the lexicons under app.bsky and com.atproto (https://docs.bsky.app/docs/category/http-reference) and
// the AT Protocol's specification (https://atproto.com/specs/atp).
package bluesky

import (
	"cmp"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

const (
	platform        = "bluesky"
	defaultWebURL   = "https://bsky.app"
	defaultVideoURL = "https://video.bsky.app"
)

// Options are the settings of the operator. The zero value uses the real network, which requires no app registration.
type Options struct {
	network.App

	WebURL   string `json:"web_url"`   // base of permalinks
	VideoURL string `json:"video_url"` // base URL of the video service
	// ReadPage reads a web page for a link card, without access to private networks; nil reads none.
	ReadPage network.PageReader `json:"-"`
}

// Network implements Bluesky's publishing protocol. It has no state between calls.
type Network struct {
	client *network.Client
	opts   Options
}

var _ network.Network = (*Network)(nil)

// New returns the network with these options.
func New(opts Options) *Network {
	opts.App = opts.WithDefaults(platform)
	opts.WebURL = strings.TrimRight(cmp.Or(opts.WebURL, defaultWebURL), "/")
	opts.VideoURL = strings.TrimRight(cmp.Or(opts.VideoURL, defaultVideoURL), "/")
	return &Network{network.NewClient(opts.HTTP), opts}
}

// Platform returns the network's name in the API, "bluesky".
func (n *Network) Platform() string { return platform }

// Check returns what the network would reject, or accept only with changes.
func (n *Network) Check(c network.Content) []network.Problem {
	return slices.Concat(n.opts.Rules.Check(c), checkOptions(c))
}

// Rules returns the limits that Check applies.
func (n *Network) Rules() network.Rules { return *n.opts.Rules }
