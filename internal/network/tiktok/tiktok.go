// Package tiktok publishes to TikTok by its Content Posting API, for accounts that are connected in a browser.
//
// A video is uploaded in parts under an id that the network gives out beforehand; the last part is what makes it a
// post, so that one is kept for Commit, and the id tells whether it arrived. Photos are fetched by the network from
// addresses that it is given in one call, which has no id until it is answered: a lost answer to it is looked for
// among the account's posts.
package tiktok

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
	platform         = "tiktok"
	defaultAuthorize = "https://www.tiktok.com"
	defaultAPI       = "https://open.tiktokapis.com"
	defaultWeb       = "https://www.tiktok.com"
	defaultVersion   = "v2"
	defaultChunk     = 30_000_000 // bytes; the network takes 5 to 64 MB
)

// Business is the kind of an account that is connected by the operator's app for businesses.
const Business = "business"

// What publishing needs: videoList for posts of which the answer was lost, and for their figures.
const (
	videoPublish = "video.publish"
	videoList    = "video.list"
)

var defaultScopes = []string{"user.info.basic", "user.info.profile", userStats, videoPublish, videoList}

// Options are what an operator or a test may set. The zero value is the real network, without an app to connect
// accounts for.
type Options struct {
	network.App

	Business      Client `json:"business"`       // the app for accounts of businesses; none where its ClientID is empty
	AuthorizeHost string `json:"authorize_host"` // base URL of the consent page
	APIHost       string `json:"api_host"`       // base URL of the API; an account keeps the one it was connected by
	WebHost       string `json:"web_host"`       // base URL of where posts stand
	Version       string `json:"version"`        // of the API and of the consent page
	ChunkBytes    int64  `json:"chunk_bytes"`    // size of a video's parts; one below twice that is sent whole
}

// Client is a registered app.
type Client struct {
	ClientID     string   `json:"client_id"`
	ClientSecret string   `json:"-"`
	Scopes       []string `json:"scopes"` // those of the usual app by default
}

// Network is TikTok's publishing protocol. It keeps nothing between calls.
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
	// Whether the network lists photos among an account's posts, and how soon, is not confirmed: unless the operator
	// knows better they never count as not posted, and a person has to look.
	settled := o.Settled
	o.App = o.Complete(platform, defaultScopes...)
	o.Settled = settled
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

// Platform is the network's name in the contract.
func (n *Network) Platform() string { return platform }

// Check finds what the network would not take. What an account may have less than others is known to Prepare alone.
func (n *Network) Check(c network.Content) []network.Problem { return n.opts.Rules.Check(c) }

// Takes is what it is checked by.
func (n *Network) Takes() network.Rules { return *n.opts.Rules }

// Connect always fails: there are no passwords here.
func (n *Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.Unusable(errors.New("a TikTok account is connected in a browser"))
}

// ask makes a call of the API by an account and reads the data of its answer.
func (n *Network) ask(ctx context.Context, g network.Grant, c network.Call, path string, out any) error {
	c.Name, c.URL, c.Bearer = path, strings.TrimRight(g.Server, "/")+"/"+n.opts.Version+"/"+path, g.Access
	answer, err := n.client.Do(ctx, c)
	if err != nil {
		return err
	}
	return n.read(answer, out)
}

// post is a call with a body of JSON, of which the network knows only that method.
func post(purpose network.Purpose, body any) network.Call {
	return network.Call{Purpose: purpose, Method: http.MethodPost, JSON: body}
}

// address is where a post stands. The network leads from /video/ on to where photos stand as well: not confirmed.
func (n *Network) address(username, form, id string) string {
	return n.opts.WebHost + "/@" + url.PathEscape(username) + "/" + form + "/" + id
}
