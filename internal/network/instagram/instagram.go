// Package instagram publishes to professional Instagram accounts through Instagram's Graph API. Accounts are connected
// in a browser, either with Instagram Login, or with Facebook Login through the account's Page.
//
// Source: https://developers.facebook.com/docs/instagram-platform
package instagram

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

const (
	platform         = "instagram"
	defaultAuthorize = "https://www.instagram.com"
	defaultToken     = "https://api.instagram.com" //nolint:gosec // an address
	defaultGraph     = "https://graph.instagram.com"
	defaultDialog    = "https://www.facebook.com"
	defaultPageGraph = "https://graph.facebook.com"
	defaultVersion   = "v25.0"

	maxAlt     = 1000 // characters; unconfirmed
	maxMessage = 500  // characters kept of the network's own text
)

// The sign-in methods. Each needs a separate app.
const (
	kindInstagram = "instagram"
	kindFacebook  = "facebook"
)

// Options holds the operator's settings. The zero value uses the real network and has no app for connecting accounts.
// The embedded App is the app for Instagram Login.
type Options struct {
	network.App

	AuthorizeHost string   `json:"authorize_host"` // base URL of the consent page
	TokenHost     string   `json:"token_host"`     // base URL of the token endpoint
	GraphHost     string   `json:"graph_host"`     // base URL of the API for newly connected accounts
	Version       string   `json:"version"`        // API version, for both sign-in methods
	Facebook      Facebook `json:"facebook"`
}

// Facebook is the app of Facebook Login, for accounts that belong to a Page.
type Facebook struct {
	ClientID     string   `json:"client_id"`
	ClientSecret string   `json:"-"`
	Scopes       []string `json:"scopes"`      // permissions to request; default: publishing and analytics
	ConfigID     string   `json:"config_id"`   // configuration of Facebook Login for Business; replaces the scopes
	DialogHost   string   `json:"dialog_host"` // base URL of the consent page
	GraphHost    string   `json:"graph_host"`  // base URL of the API for newly connected accounts
}

// Network implements Instagram's publishing protocol. Between calls, it remembers only the limit on hashtags.
type Network struct {
	*graph.Containers

	opts     Options
	hashtags *hashtagLimit
	comments graph.Comments
}

var _ network.Authorizer = (*Network)(nil)

// New returns a Network with the given options.
func New(opts Options) *Network {
	opts = opts.withDefaults()
	hashtags := &hashtagLimit{}
	containers := &graph.Containers{
		Client: graph.New(opts.App), App: opts.App, Version: opts.Version,
		Names: graph.Names{
			Platform: platform, Title: "Instagram", Edge: "media", Publish: "media_publish", Stories: "stories", Text: "caption",
			State: "id,status_code,status",
		},
		MediaParams: mediaParams, FailureReason: containerError, Secret: opts.proofSecret, Options: containerOptions,
		Observe: func(text string, err error) { hashtags.observe(*opts.Rules, text, err) },
	}
	return &Network{containers, opts, hashtags, newComments(containers)}
}

func (o Options) withDefaults() Options {
	o.App = o.WithDefaults(platform, "instagram_business_basic", scopeInstagramPublish, "instagram_business_manage_insights",
		scopeInstagramComments)
	o.AuthorizeHost = strings.TrimRight(cmp.Or(o.AuthorizeHost, defaultAuthorize), "/")
	o.TokenHost = strings.TrimRight(cmp.Or(o.TokenHost, defaultToken), "/")
	o.GraphHost = strings.TrimRight(cmp.Or(o.GraphHost, defaultGraph), "/")
	o.Version = cmp.Or(o.Version, defaultVersion)
	f := &o.Facebook
	if len(f.Scopes) == 0 {
		f.Scopes = []string{
			"instagram_basic", scopeFacebookPublish, "instagram_manage_insights",
			scopeFacebookComments, "pages_show_list", "pages_read_engagement",
			graph.ScopeBusiness,
		}
	}
	f.DialogHost = strings.TrimRight(cmp.Or(f.DialogHost, defaultDialog), "/")
	f.GraphHost = strings.TrimRight(cmp.Or(f.GraphHost, defaultPageGraph), "/")
	return o
}

// proofSecret returns the secret of the Facebook Login app. It returns "" for Instagram Login, because its calls do not
// use an appsecret_proof.
func (o Options) proofSecret(g network.Grant) string {
	if g.Kind == kindFacebook {
		return o.Facebook.ClientSecret
	}
	return ""
}

// mediaParams returns a container's parameters for one image or video. A single video becomes a reel, which is also
// shown in the feed. Videos and stories cannot have alt text.
func mediaParams(o network.Options, m network.Media, address string, inCarousel bool) url.Values {
	switch {
	case o.IsStory(platform) && m.Kind == network.Video:
		return url.Values{"media_type": {"STORIES"}, "video_url": {address}}
	case o.IsStory(platform):
		return url.Values{"media_type": {"STORIES"}, "image_url": {address}}
	case m.Kind == network.Video && inCarousel:
		return url.Values{"media_type": {"VIDEO"}, "video_url": {address}}
	case m.Kind == network.Video:
		params := url.Values{"media_type": {"REELS"}, "video_url": {address}, "share_to_feed": {"true"}}
		if m.Cover > 0 && postOptions(o).CoverMediaID == 0 {
			params.Set("thumb_offset", strconv.FormatInt(m.Cover.Milliseconds(), 10))
		}
		return params
	}
	params := url.Values{"image_url": {address}}
	if m.Alt != "" {
		params.Set("alt_text", network.Clip(m.Alt, maxAlt))
	}
	return params
}

// subcodePattern finds the subcode in the status of a failed container.
var subcodePattern = regexp.MustCompile(`\b22[0-9]{5}\b`)

// fetchSubcodes lists the error subcodes for media that Instagram could not fetch.
var fetchSubcodes = []int{2207003, 2207052}

// containerError returns the error for a failed container. It also reports whether a new container may succeed.
func containerError(status string) (*network.Error, bool) {
	netErr := &network.Error{
		Class: network.Transient, Status: http.StatusOK, Code: subcodePattern.FindString(status),
		Message: network.Clip(status, maxMessage),
		Err:     errors.New("the network could not process the container"),
	}
	number, _ := strconv.Atoi(netErr.Code)
	class, known := graph.SubcodeClass(number)
	switch {
	case slices.Contains(fetchSubcodes, number): // After a few retries, the file counts as unusable.
		netErr.Class = network.RejectedMedia
		return netErr, true
	case known:
		netErr.Class = class
	}
	return netErr, netErr.Class == network.Transient
}
