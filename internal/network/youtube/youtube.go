// Package youtube publishes to YouTube through its Data API, for channels connected in a browser.
//
// A video is uploaded in a session of Google's resumable upload protocol, which starts with the title and description.
// YouTube creates the video when the last part of the file arrives. A session creates only one video. At any time, it
// reports how many bytes it has received or which video it has created. A lost response therefore never leads to a
// second video.
//
// Sources: https://developers.google.com/youtube/v3/docs/videos/insert and
// https://developers.google.com/youtube/v3/guides/using_resumable_upload_protocol.
package youtube

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

const (
	platform         = "youtube"
	defaultAuthorize = "https://accounts.google.com"
	defaultToken     = "https://oauth2.googleapis.com" //nolint:gosec // an address
	defaultAPI       = "https://www.googleapis.com"
	defaultWeb       = "https://www.youtube.com"
	defaultVersion   = "v3"
	defaultPrivacy   = "public"
	scopeUpload      = "https://www.googleapis.com/auth/youtube.upload"
	scopeEdit        = "https://www.googleapis.com/auth/youtube.force-ssl" // for playlists and comments
	privacyPrivate   = "private"
	defaultChunk     = 8 << 20   // bytes
	chunkUnit        = 256 << 10 // bytes; each part except the last is a multiple of it
)

// defaultScopes are the scopes for publishing and for reading posts and metrics. The scope of the Analytics API is
// optional.
var defaultScopes = []string{
	scopeUpload, "https://www.googleapis.com/auth/youtube.readonly", reportScope,
}

// Options are the settings of the operator. The zero value uses the real network, without an app for connecting
// channels.
type Options struct {
	network.App

	AuthorizeHost string `json:"authorize_host"` // base URL of the consent page
	TokenHost     string `json:"token_host"`     // base URL of the token endpoint
	// base URL of the API and its uploads for newly connected accounts
	APIHost string `json:"api_host"`
	// base URL of the Analytics API, for accounts connected through the default APIHost
	AnalyticsHost string `json:"analytics_host"`
	WebURL        string `json:"web_url"` // base URL of permalinks
	Version       string `json:"version"` // of the API
	Privacy       string `json:"privacy"` // privacy of a video without a choice: public, unlisted or private
	// whether a video without a choice is declared as made for kids; undeclared if unset
	MadeForKids *bool `json:"made_for_kids"`
	// Playlists allows adding videos to playlists. People then have to grant an additional permission.
	Playlists bool `json:"playlists"`
	// FirstComments allows first comments. People then have to grant the same additional permission as for playlists.
	FirstComments bool `json:"first_comments"`
	// size of a file's parts, which are held in memory; rounded down to a multiple of 256 KiB
	ChunkBytes int64 `json:"chunk_bytes"`
}

// Network implements YouTube's publishing protocol. It has no state between calls.
type Network struct {
	client *network.Client
	opts   Options
}

var _ network.Authorizer = (*Network)(nil)

// New returns the network with these options.
func New(opts Options) *Network {
	opts = opts.withDefaults()
	return &Network{network.NewClient(opts.HTTP), opts}
}

// DefaultOptions returns the options that apply to a video without choices.
func (n *Network) DefaultOptions() network.Options {
	return network.Options{YouTube: &network.YouTubeOptions{
		PrivacyStatus: n.opts.Privacy, SelfDeclaredMadeForKids: n.opts.MadeForKids,
	}}
}

// AddsToPlaylists reports whether videos can be added to playlists.
func (n *Network) AddsToPlaylists() bool { return n.opts.Playlists }

// Validate returns an error if Privacy is set to an unknown value.
func (o Options) Validate() error {
	if !slices.Contains([]string{"", defaultPrivacy, "unlisted", privacyPrivate}, o.Privacy) {
		return errors.New(`"privacy" must be public, unlisted or private`)
	}
	return nil
}

func (o Options) withDefaults() Options {
	scopes := defaultScopes
	if o.Playlists || o.FirstComments {
		scopes = append(slices.Clone(scopes), scopeEdit)
	}
	o.App = o.WithDefaults(platform, scopes...)
	if o.FirstComments {
		o.Rules = o.Rules.WithFirstComment(maxComment)
	}
	o.AuthorizeHost = baseURL(o.AuthorizeHost, defaultAuthorize)
	o.TokenHost = baseURL(o.TokenHost, defaultToken)
	o.APIHost = baseURL(o.APIHost, defaultAPI)
	o.AnalyticsHost = baseURL(o.AnalyticsHost, defaultAnalytics)
	o.WebURL = baseURL(o.WebURL, defaultWeb)
	o.Version = cmp.Or(o.Version, defaultVersion)
	o.Privacy = cmp.Or(o.Privacy, defaultPrivacy)
	if o.ChunkBytes <= 0 {
		o.ChunkBytes = defaultChunk
	}
	o.ChunkBytes = max(1, o.ChunkBytes/chunkUnit) * chunkUnit
	return o
}

func baseURL(configured, fallback string) string {
	return strings.TrimRight(cmp.Or(configured, fallback), "/")
}

// Platform returns the network's name in the API, "youtube".
func (n *Network) Platform() string { return platform }

// Check returns what the network would reject, or accept only with changes.
func (n *Network) Check(c network.Content) []network.Problem {
	problems := append(n.opts.Rules.Check(c), n.opts.Rules.CheckTitle(platform, c)...)
	if o := c.Options.YouTube; o != nil && o.PlaylistID != "" && !n.opts.Playlists {
		problems = append(problems, network.OptionProblem(platform, "playlist_id", network.CodeOptionUnsupported, false,
			"This installation does not add videos to playlists (options.youtube.playlist_id). The operator can turn "+
				"it on: \"playlists\" in the settings of youtube."))
	}
	return problems
}

// Rules returns the limits that Check applies.
func (n *Network) Rules() network.Rules { return *n.opts.Rules }

// Connect always fails, because channels are connected in a browser.
func (n *Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.PermanentError(errors.New("connect a YouTube channel in a browser"))
}

// read requests a list of resources and decodes it into out.
func (n *Network) read(ctx context.Context, g network.Grant, list string, query url.Values, out any) error {
	c := g.Call(http.MethodGet, "youtube/"+n.opts.Version, list)
	c.Query = query
	return n.client.Read(ctx, c, out, n.rejection, http.StatusOK)
}
