// Package instagram publishes to professional accounts on Instagram by its Graph API, for accounts that are connected
// in a browser: by Instagram Login, or by Facebook Login through the Page that an account belongs to.
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

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

const (
	platform         = "instagram"
	defaultAuthorize = "https://www.instagram.com"
	defaultTrade     = "https://api.instagram.com"
	defaultGraph     = "https://graph.instagram.com"
	defaultDialog    = "https://www.facebook.com"
	defaultPageGraph = "https://graph.facebook.com"
	defaultVersion   = "v25.0"

	maxAlt     = 1000 // characters; the number is not confirmed
	maxMessage = 500  // characters kept of the network's own text
)

// The ways of signing in, each with an app of its own.
const (
	byInstagram = "instagram"
	byFacebook  = "facebook"
)

// Options are what an operator or a test may set. The zero value is the real network, without an app to connect
// accounts for. The app that stands here itself is that of Instagram Login.
type Options struct {
	network.App

	AuthorizeHost string   `json:"authorize_host"` // base URL of the consent page
	TokenHost     string   `json:"token_host"`     // base URL at which a code is traded
	GraphHost     string   `json:"graph_host"`     // base URL of the API; an account keeps the one it was connected by
	Version       string   `json:"version"`        // of the API, whichever the way of signing in
	Facebook      Facebook `json:"facebook"`
}

// Facebook is the app of Facebook Login, for accounts that belong to a Page.
type Facebook struct {
	ClientID     string   `json:"client_id"`
	ClientSecret string   `json:"-"`
	Scopes       []string `json:"scopes"`      // asked for at the consent; what publishing and figures need by default
	DialogHost   string   `json:"dialog_host"` // base URL of the consent page
	GraphHost    string   `json:"graph_host"`  // base URL of the API; an account keeps the one it was connected by
}

// Network is Instagram's publishing protocol. It keeps nothing between calls.
type Network struct {
	*graph.Containers

	opts Options
}

var _ network.Authorizer = (*Network)(nil)

// New makes the network with opts.
func New(opts Options) *Network {
	opts = opts.complete()
	return &Network{&graph.Containers{
		Client: graph.New(opts.App), App: opts.App, Version: opts.Version,
		Words: graph.Words{
			Platform: platform, Title: "Instagram", Edge: "media", Publish: "media_publish", Text: "caption",
			State: "id,status_code,status",
		},
		Show: show, Failure: failure,
	}, opts}
}

func (o Options) complete() Options {
	o.App = o.Complete(platform, "instagram_business_basic", instagramPublish, "instagram_business_manage_insights")
	o.AuthorizeHost = strings.TrimRight(cmp.Or(o.AuthorizeHost, defaultAuthorize), "/")
	o.TokenHost = strings.TrimRight(cmp.Or(o.TokenHost, defaultTrade), "/")
	o.GraphHost = strings.TrimRight(cmp.Or(o.GraphHost, defaultGraph), "/")
	o.Version = cmp.Or(o.Version, defaultVersion)
	f := &o.Facebook
	if len(f.Scopes) == 0 {
		f.Scopes = []string{
			"instagram_basic", facebookPublish, "instagram_manage_insights", "pages_show_list", "pages_read_engagement",
			"business_management",
		}
	}
	f.DialogHost = strings.TrimRight(cmp.Or(f.DialogHost, defaultDialog), "/")
	f.GraphHost = strings.TrimRight(cmp.Or(f.GraphHost, defaultPageGraph), "/")
	return o
}

// show is the part of a container about one medium. A video by itself is a reel, which is to stand among the posts too;
// videos have no description.
func show(m network.Media, address string, several bool) url.Values {
	switch {
	case m.Kind == network.Video && several:
		return url.Values{"media_type": {"VIDEO"}, "video_url": {address}}
	case m.Kind == network.Video:
		params := url.Values{"media_type": {"REELS"}, "video_url": {address}, "share_to_feed": {"true"}}
		if m.Cover > 0 {
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

// subcode is how the status of a container that failed tells why.
var subcode = regexp.MustCompile(`\b22[0-9]{5}\b`)

// unfetched are the subcodes of media that the network could not get.
var unfetched = []int{2207003, 2207052}

// failure tells what a creation anew may mend from what it cannot.
func failure(status string) (*network.Error, bool) {
	said := &network.Error{
		Class: network.Transient, Status: http.StatusOK, Code: subcode.FindString(status),
		Message: network.Clip(status, maxMessage),
		Err:     errors.New("the network could not make the container ready"),
	}
	number, _ := strconv.Atoi(said.Code)
	class, known := graph.Subcode(number)
	switch {
	case slices.Contains(unfetched, number): // a few new tries, then it is the file that is blamed
		said.Class = network.RejectedMedia
		return said, true
	case known:
		said.Class = class
	}
	return said, said.Class == network.Transient
}
