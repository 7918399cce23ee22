// Package youtube publishes to YouTube by its Data API, for channels that are connected in a browser.
//
// A video is uploaded in an upload session of Google's resumable protocol, which is begun with all that is to be said
// of it. The parts of the file show nothing until the last one is there: that one makes the video. A session makes one
// video alone and says at any time how much of the file it has, or which video it became, so no answer that is lost
// makes two.
package youtube

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pressroom/internal/network"
)

const (
	platform         = "youtube"
	defaultAuthorize = "https://accounts.google.com"
	defaultToken     = "https://oauth2.googleapis.com" //nolint:gosec // an address
	defaultAPI       = "https://www.googleapis.com"
	defaultWeb       = "https://www.youtube.com"
	defaultVersion   = "v3"
	defaultPrivacy   = "public"
	defaultChunk     = 8 << 20
	chunkUnit        = 256 << 10 // bytes; every part of a file but its last is a multiple, by Google's protocol
)

// defaultScopes are what publishing needs, what finding a lost post and reading the figures of posts needs, and what
// the Analytics API needs, without which all else works.
var defaultScopes = []string{
	"https://www.googleapis.com/auth/youtube.upload", "https://www.googleapis.com/auth/youtube.readonly", reportScope,
}

// Options are what an operator or a test may set. The zero value is the real network, without an app to connect
// channels for.
type Options struct {
	network.App

	AuthorizeHost string `json:"authorize_host"` // base URL of the consent page
	TokenHost     string `json:"token_host"`     // base URL of the token endpoint
	// base URL of the API and its uploads; an account keeps the one it was connected by
	APIHost string `json:"api_host"`
	// base URL of the Analytics API, for accounts that were connected by the usual APIHost
	AnalyticsHost string `json:"analytics_host"`
	WebURL        string `json:"web_url"` // base URL of the pages of videos
	Version       string `json:"version"` // of the API
	Privacy       string `json:"privacy"` // of a video: public, unlisted or private
	// of a file sent at once and held in memory; a multiple of 256 KiB, or made one
	ChunkBytes int64 `json:"chunk_bytes"`
}

// Network is YouTube's publishing protocol. It keeps nothing between calls.
type Network struct {
	client *network.Client
	opts   Options
}

var _ network.Authorizer = (*Network)(nil)

// New makes the network with opts.
func New(opts Options) *Network {
	opts = opts.complete()
	return &Network{network.NewClient(opts.HTTP), opts}
}

func (o Options) complete() Options {
	o.App = o.Complete(platform, defaultScopes...)
	o.AuthorizeHost = base(o.AuthorizeHost, defaultAuthorize)
	o.TokenHost = base(o.TokenHost, defaultToken)
	o.APIHost = base(o.APIHost, defaultAPI)
	o.AnalyticsHost = base(o.AnalyticsHost, defaultAnalytics)
	o.WebURL = base(o.WebURL, defaultWeb)
	o.Version = cmp.Or(o.Version, defaultVersion)
	o.Privacy = cmp.Or(o.Privacy, defaultPrivacy)
	if o.ChunkBytes <= 0 {
		o.ChunkBytes = defaultChunk
	}
	o.ChunkBytes = max(1, o.ChunkBytes/chunkUnit) * chunkUnit
	return o
}

func base(set, usual string) string { return strings.TrimRight(cmp.Or(set, usual), "/") }

// Platform is the network's name in the contract.
func (n *Network) Platform() string { return platform }

// Check finds what the network would not take.
func (n *Network) Check(c network.Content) []network.Problem {
	return n.opts.Rules.Check(c)
}

// Takes is what it is checked by.
func (n *Network) Takes() network.Rules { return *n.opts.Rules }

// Connect always fails: there are no passwords here.
func (n *Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.Unusable(errors.New("a YouTube channel is connected in a browser"))
}

// read asks the API for a list.
func (n *Network) read(ctx context.Context, g network.Grant, list string, query url.Values, out any) error {
	c := g.Call(http.MethodGet, "youtube/"+n.opts.Version, list)
	c.Query = query
	return n.client.Read(ctx, c, out, n.refusal, http.StatusOK)
}
