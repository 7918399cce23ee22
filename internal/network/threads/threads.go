// Package threads publishes to Threads by its Graph API, for accounts that are connected in a browser.
package threads

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

const (
	platform         = "threads"
	defaultAuthorize = "https://threads.net"
	defaultGraph     = "https://graph.threads.net"
	defaultVersion   = "v1.0"

	maxAlt     = 1000 // characters
	maxMessage = 500  // characters kept of the network's own text
)

// defaultScopes are what publishing needs, and the insights of what was published.
var defaultScopes = []string{"threads_basic", "threads_content_publish", "threads_manage_insights"}

// Options are what an operator or a test may set. The zero value is the real network, without an app to connect
// accounts for.
type Options struct {
	network.App

	AuthorizeHost string `json:"authorize_host"` // base URL of the consent page
	GraphHost     string `json:"graph_host"`     // base URL of the API; an account keeps the one it was connected by
	Version       string `json:"version"`        // of the API
}

// Network is Threads' publishing protocol. It keeps nothing between calls.
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
			Platform: platform, Title: "Threads", Owner: "me", Edge: "threads", Publish: "threads_publish",
			Text: "text", State: "id,status,error_message",
		},
		Show: show, Failure: failure,
	}, opts}
}

func (o Options) complete() Options {
	o.App = o.Complete(platform, defaultScopes...)
	o.AuthorizeHost = cmp.Or(o.AuthorizeHost, defaultAuthorize)
	o.GraphHost = cmp.Or(o.GraphHost, defaultGraph)
	o.Version = cmp.Or(o.Version, defaultVersion)
	o.AuthorizeHost = strings.TrimRight(o.AuthorizeHost, "/")
	o.GraphHost = strings.TrimRight(o.GraphHost, "/")
	return o
}

func show(m network.Media, address string, _ bool) url.Values {
	params := url.Values{"media_type": {"IMAGE"}, "image_url": {address}}
	if m.Kind == network.Video {
		params = url.Values{"media_type": {"VIDEO"}, "video_url": {address}}
	}
	if m.Alt != "" {
		params.Set("alt_text", network.Clip(m.Alt, maxAlt))
	}
	return params
}

// failWord also stands where the network says something of which nothing is known.
const failWord = "UNKNOWN"

var badFile = []string{"FAILED_DOWNLOADING_VIDEO", "FAILED_PROCESSING_AUDIO", "FAILED_PROCESSING_VIDEO"}

// failure tells what a creation anew may mend from what it cannot.
func failure(message string) (*network.Error, bool) {
	said := &network.Error{
		Class: network.Transient, Status: http.StatusOK, Code: failWord, Message: network.Clip(message, maxMessage),
		Err: errors.New("the network could not make the container ready"),
	}
	word, _, _ := strings.Cut(message, " ")
	invalid := strings.HasPrefix(word, "INVALID_")
	if invalid || slices.Contains(badFile, word) {
		said.Class, said.Code = network.RejectedMedia, network.Clip(word, maxName)
	}
	return said, !invalid
}
