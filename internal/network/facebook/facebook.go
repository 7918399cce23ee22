// Package facebook publishes to Facebook Pages by the Graph API, for Pages that a person connects in a browser.
//
// Nothing that shows a post can be named ahead by us, so a post of text or photos whose answer is lost is looked for
// among the Page's posts. A video is uploaded first, which shows nothing; the call that ends the upload shows it, once
// however often it is made, and the video itself tells how that went.
package facebook

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

const (
	platform         = "facebook"
	defaultAuthorize = "https://www.facebook.com"
	defaultGraph     = "https://graph.facebook.com"
	defaultVideo     = "https://graph-video.facebook.com"
	defaultVersion   = "v25.0"
)

// neededScopes are what publishing needs: to list the Pages, to look back at their posts, to post. Pages that belong to
// a business may need business_management as well (not confirmed).
var neededScopes = []string{"pages_show_list", "pages_read_engagement", "pages_manage_posts"}

// Options are what an operator or a test may set. The zero value is the real network, without an app to connect Pages
// for.
type Options struct {
	network.App

	AuthorizeHost string `json:"authorize_host"` // base URL of the consent page and of what people look at
	GraphHost     string `json:"graph_host"`     // base URL of the API; a Page keeps the one it was connected by
	VideoHost     string `json:"video_host"`     // base URL of the API for uploads of videos
	Version       string `json:"version"`        // of the API
}

// Network is the publishing protocol of Facebook Pages. It keeps nothing between calls.
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
	o.App = o.Complete(platform, append(slices.Clone(neededScopes), insightsScope)...)
	o.AuthorizeHost = strings.TrimRight(cmp.Or(o.AuthorizeHost, defaultAuthorize), "/")
	o.GraphHost = strings.TrimRight(cmp.Or(o.GraphHost, defaultGraph), "/")
	o.VideoHost = strings.TrimRight(cmp.Or(o.VideoHost, defaultVideo), "/")
	o.Version = cmp.Or(o.Version, defaultVersion)
	return o
}

// Platform is the network's name in the contract.
func (n *Network) Platform() string { return platform }

// Check finds what the network would not take.
func (n *Network) Check(c network.Content) []network.Problem { return n.opts.Rules.Check(c) }

// Takes is what it is checked by.
func (n *Network) Takes() network.Rules { return *n.opts.Rules }

// on is a call of the versioned API by a Page.
func (n *Network) on(g network.Grant, method, path string, params url.Values, out any) graph.Call {
	return graph.Call{
		Method: method, Server: g.Server, Path: n.opts.Version + "/" + path, Token: g.Access, Params: params, Out: out,
	}
}

// Connect always fails: there are no passwords here.
func (n *Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.Unusable(errors.New("a Facebook Page is connected in a browser"))
}
