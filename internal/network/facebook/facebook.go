// Package facebook publishes to Facebook Pages through the Graph API. Pages are connected in a browser.
//
// Facebook does not let clients choose keys. If the response to a post with text or photos is lost, Resolve searches
// the Page's posts. A video is uploaded unpublished. Finishing the upload publishes the video. Repeated calls do not
// publish it again, and the video's state shows the result. Vertical videos are published as reels in the same way.
//
// Sources: https://developers.facebook.com/docs/pages-api/posts,
// https://developers.facebook.com/docs/video-api/guides/publishing,
// https://developers.facebook.com/docs/video-api/guides/reels-publishing
package facebook

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

const (
	platform         = "facebook"
	defaultAuthorize = "https://www.facebook.com"
	defaultGraph     = "https://graph.facebook.com"
	defaultVideo     = "https://graph-video.facebook.com"
	defaultUpload    = "https://rupload.facebook.com"
	defaultVersion   = "v25.0"
)

const scopeShowPages = "pages_show_list"

// requiredScopes lists the permissions that are required to list Pages, to read their posts and to publish. Pages of a
// business portfolio also require graph.ScopeBusiness.
var requiredScopes = []string{scopeShowPages, "pages_read_engagement", "pages_manage_posts"}

// Options holds the operator's settings. The zero value uses the real network and has no app for connecting Pages.
type Options struct {
	network.App

	AuthorizeHost string `json:"authorize_host"` // base URL of the consent page and of permalinks
	GraphHost     string `json:"graph_host"`     // base URL of the API for newly connected Pages
	VideoHost     string `json:"video_host"`     // base URL of the API for video uploads
	UploadHost    string `json:"upload_host"`    // base URL for uploading the files of reels
	Version       string `json:"version"`        // API version
	ConfigID      string `json:"config_id"`      // configuration of Facebook Login for Business; replaces the scopes
}

// Network implements the publishing protocol of Facebook Pages. It has no state between calls.
type Network struct {
	graph    *graph.Client
	opts     Options
	comments graph.Comments
}

var _ network.Authorizer = (*Network)(nil)

// New returns a Network with the given options.
func New(opts Options) *Network {
	opts = opts.withDefaults()
	n := &Network{graph: graph.New(opts.App), opts: opts}
	n.comments = newComments(n)
	return n
}

func (o Options) withDefaults() Options {
	o.App = o.WithDefaults(platform, append(slices.Clone(requiredScopes), insightsScope, scopeComments, graph.ScopeBusiness)...)
	o.AuthorizeHost = strings.TrimRight(cmp.Or(o.AuthorizeHost, defaultAuthorize), "/")
	o.GraphHost = strings.TrimRight(cmp.Or(o.GraphHost, defaultGraph), "/")
	o.VideoHost = strings.TrimRight(cmp.Or(o.VideoHost, defaultVideo), "/")
	o.UploadHost = strings.TrimRight(cmp.Or(o.UploadHost, defaultUpload), "/")
	o.Version = cmp.Or(o.Version, defaultVersion)
	return o
}

// Platform returns the network's name in the API.
func (n *Network) Platform() string { return platform }

// Check returns what the network would reject, or accept only with changes.
func (n *Network) Check(c network.Content) []network.Problem {
	if c.Options.IsStory(platform) {
		return append(n.opts.Rules.CheckStory(c), checkOptions(c)...)
	}
	return slices.Concat(n.opts.Rules.Check(c), n.opts.Rules.CheckTitle(platform, c), checkVertical(c.Media), checkOptions(c))
}

// Rules returns the limits that Check applies.
func (n *Network) Rules() network.Rules { return *n.opts.Rules }

// newCall returns a call to the versioned API with a Page's token.
func (n *Network) newCall(g network.Grant, method, path string, params url.Values, out any) graph.Call {
	return graph.Call{
		Method: method, Server: g.Server, Path: n.opts.Version + "/" + path, Token: g.AccessToken,
		Secret: n.opts.ClientSecret, Params: params, Out: out,
	}
}

// Connect always returns an error, because Facebook does not support signing in with a password.
func (n *Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.PermanentError(errors.New("connect Facebook Pages in a browser"))
}
