// Package threads publishes to Threads through its Graph API. Accounts are connected in a browser.
//
// Source: https://developers.facebook.com/docs/threads
package threads

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

const (
	platform         = "threads"
	defaultAuthorize = "https://threads.net"
	defaultGraph     = "https://graph.threads.net"
	defaultVersion   = "v1.0"

	maxAlt     = 1000 // characters
	maxMessage = 500  // characters kept of the network's own text
)

// defaultScopes lists the permissions that are required for publishing and insights.
var defaultScopes = []string{"threads_basic", scopePublish, "threads_manage_insights", scopeReplies}

const (
	scopePublish = "threads_content_publish"
	scopeReplies = "threads_read_replies" // required to find a reply if the response to its request was lost
)

// Options holds the operator's settings. The zero value uses the real network and has no app for connecting accounts.
type Options struct {
	network.App

	AuthorizeHost string `json:"authorize_host"` // base URL of the consent page
	GraphHost     string `json:"graph_host"`     // base URL of the API for newly connected accounts
	Version       string `json:"version"`        // API version
}

// Network implements Threads' publishing protocol. It has no state between calls.
type Network struct {
	*graph.Containers

	opts Options
}

var _ network.Authorizer = (*Network)(nil)

// New returns a Network with the given options.
func New(opts Options) *Network {
	opts = opts.withDefaults()
	return &Network{&graph.Containers{
		Client: graph.New(opts.App), App: opts.App, Version: opts.Version,
		Names: graph.Names{
			Platform: platform, Title: "Threads", Owner: "me", Edge: "threads", Publish: "threads_publish", Replies: "replies",
			Text: "text", State: "id,status,error_message",
		},
		MediaParams: mediaParams, FailureReason: containerError,
		Options: graph.OptionHooks{FilterOptions: ownOptions, Check: checkOptions, Params: postParams},
	}, opts}
}

func (o Options) withDefaults() Options {
	o.App = o.WithDefaults(platform, defaultScopes...)
	o.AuthorizeHost = strings.TrimRight(cmp.Or(o.AuthorizeHost, defaultAuthorize), "/")
	o.GraphHost = strings.TrimRight(cmp.Or(o.GraphHost, defaultGraph), "/")
	o.Version = cmp.Or(o.Version, defaultVersion)
	return o
}

// mediaParams returns a container's parameters for one image or video.
func mediaParams(_ network.Options, m network.Media, address string, _ bool) url.Values {
	params := url.Values{"media_type": {"IMAGE"}, "image_url": {address}}
	if m.Kind == network.Video {
		params = url.Values{"media_type": {"VIDEO"}, "video_url": {address}}
	}
	if m.Alt != "" {
		params.Set("alt_text", network.Clip(m.Alt, maxAlt))
	}
	return params
}

// unknownFailure is Threads' code for unknown failures. This package also uses it for descriptions that it does not
// know.
const unknownFailure = "UNKNOWN"

var fileFailures = []string{"FAILED_DOWNLOADING_VIDEO", "FAILED_PROCESSING_AUDIO", "FAILED_PROCESSING_VIDEO"}

// containerError returns the error for a failed container. It also reports whether a new container may succeed.
func containerError(message string) (*network.Error, bool) {
	netErr := &network.Error{
		Class: network.Transient, Status: http.StatusOK, Code: unknownFailure, Message: network.Clip(message, maxMessage),
		Err: errors.New("the network could not process the container"),
	}
	word, _, _ := strings.Cut(message, " ")
	invalid := strings.HasPrefix(word, "INVALID_")
	if invalid || slices.Contains(fileFailures, word) {
		netErr.Class, netErr.Code = network.RejectedMedia, network.Clip(word, maxName)
	}
	return netErr, !invalid
}
