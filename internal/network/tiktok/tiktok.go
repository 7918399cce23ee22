// Package tiktok publishes to TikTok through its Content Posting API, for accounts connected in a browser.
//
// A video is uploaded in parts, with an ID that TikTok assigns in advance. The last part publishes the video, so Commit
// sends that part. The status of the ID shows whether the part arrived. Photos are published by a single call, and
// TikTok fetches them from URLs. Only the response to this call has an ID. If that response is lost, Resolve searches
// the account's posts.
//
// Sources: https://developers.tiktok.com/doc/content-posting-api-get-started and the reference pages below it.
package tiktok

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

const (
	platform         = "tiktok"
	defaultAuthorize = "https://www.tiktok.com"
	defaultAPI       = "https://open.tiktokapis.com"
	defaultWeb       = "https://www.tiktok.com"
	defaultVersion   = "v2"
	defaultChunk     = 30_000_000 // bytes; the network accepts 5 to 64 MB
)

// Business is the kind of account that is connected through the operator's app for business accounts.
const Business = "business"

// The scopes for publishing. An account needs scopeVideoPublish for direct posts, or scopeVideoUpload for the inbox.
// scopeVideoList is needed to find posts after a lost response, and to read metrics.
const (
	scopeVideoPublish = "video.publish"
	scopeVideoUpload  = "video.upload" // for inbox mode; not requested by default, because not every app has it
	scopeVideoList    = "video.list"
)

var defaultScopes = []string{scopeUserBasic, "user.info.profile", scopeUserStats, scopeVideoPublish, scopeVideoList}

// Options are the settings of the operator. The zero value uses the real network, without an app for connecting
// accounts.
type Options struct {
	network.App

	// the app for business accounts; not configured if its ClientID is empty; by default with the scopes of the main
	// app
	Business      network.OAuthApp `json:"business"`
	AuthorizeHost string           `json:"authorize_host"` // base URL of the consent page
	APIHost       string           `json:"api_host"`       // base URL of the API for newly connected accounts
	WebHost       string           `json:"web_host"`       // base URL of permalinks
	Version       string           `json:"version"`        // of the API and of the consent page
	ChunkBytes    int64            `json:"chunk_bytes"`    // size of a video's parts; smaller files have a single part
	// Defaults apply to posts without choices. Only Mode may be set, because TikTok's guidelines require that a person
	// makes the other choices.
	Defaults network.TikTokOptions `json:"defaults"`
}

// Validate returns an error if Defaults has an unknown mode or a choice that only a person may make.
//
// Source: https://developers.tiktok.com/doc/content-sharing-guidelines
func (o Options) Validate() error {
	modes := []string{"", network.TikTokDirect, network.TikTokInbox}
	if !slices.Contains(modes, o.Defaults.Mode) {
		return fmt.Errorf(`defaults: "mode" must be %s or %s`, network.TikTokDirect, network.TikTokInbox)
	}
	if o.Defaults != (network.TikTokOptions{Mode: o.Defaults.Mode}) {
		return errors.New(`defaults: only "mode" can be set, because people choose who sees a post and agree to the use of music, ` +
			`in each post or in the settings of their team`)
	}
	return nil
}

// Network implements TikTok's publishing protocol. Between calls, it only keeps each account's maximum video duration.
type Network struct {
	client *network.Client
	opts   Options
	videos *videoLimits
}

var _ network.Authorizer = (*Network)(nil)

// New returns the network with these options.
func New(opts Options) *Network {
	opts = opts.withDefaults()
	return &Network{network.NewClient(opts.HTTP), opts, &videoLimits{now: opts.Now}}
}

func (o Options) withDefaults() Options {
	// It is unconfirmed whether and when TikTok lists photos. Unless the operator sets ListingDelay, unlisted photos
	// never count as absent, and a person has to check.
	configured := o.ListingDelay
	o.App = o.WithDefaults(platform, defaultScopes...)
	o.ListingDelay = configured
	if len(o.Business.Scopes) == 0 {
		o.Business.Scopes = o.Scopes
	}
	o.AuthorizeHost = strings.TrimRight(cmp.Or(o.AuthorizeHost, defaultAuthorize), "/")
	o.APIHost = strings.TrimRight(cmp.Or(o.APIHost, defaultAPI), "/")
	o.WebHost = strings.TrimRight(cmp.Or(o.WebHost, defaultWeb), "/")
	o.Version = cmp.Or(o.Version, defaultVersion)
	o.ChunkBytes = cmp.Or(max(o.ChunkBytes, 0), defaultChunk)
	return o
}

// Platform returns the network's name in the API, "tiktok".
func (n *Network) Platform() string { return platform }

// Check returns what the network would reject, or accept only with changes. It warns about a video that is longer than
// the account's last known settings allow. Prepare reads the settings again.
func (n *Network) Check(c network.Content) []network.Problem {
	choices := n.choicesFor(c.Options)
	return slices.Concat(n.opts.Rules.Check(c), n.opts.Rules.CheckTitle(platform, c),
		checkChoices(choices, c.Text, c.Media), n.videos.check(c, choices))
}

// Rules returns the limits that Check applies.
func (n *Network) Rules() network.Rules { return *n.opts.Rules }

// Connect always fails, because accounts are connected in a browser.
func (n *Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.PermanentError(errors.New("connect a TikTok account in a browser"))
}

// callAPI calls the API with the account's token and decodes the data of the response.
func (n *Network) callAPI(ctx context.Context, g network.Grant, c network.Call, path string, out any) error {
	c.Name, c.URL, c.Bearer = path, strings.TrimRight(g.Server, "/")+"/"+n.opts.Version+"/"+path, g.AccessToken
	response, err := n.client.Do(ctx, c)
	if err != nil {
		return err
	}
	return n.decode(response, out)
}

// newPostCall returns a POST call with body as JSON.
func newPostCall(purpose network.Purpose, body any) network.Call {
	return network.Call{Purpose: purpose, Method: http.MethodPost, JSON: body}
}

// postURL returns the permalink of a post. It is unconfirmed that /video/ redirects to photos.
func (n *Network) postURL(username, kind, id string) string {
	return n.opts.WebHost + "/@" + url.PathEscape(username) + "/" + kind + "/" + id
}
