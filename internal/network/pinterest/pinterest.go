// Package pinterest publishes to Pinterest by its API, version 5, for accounts that are connected in a browser.
//
// What a person connects is a board: a pin stands on one. Images are fetched by the network from addresses that it is
// given; a video is uploaded first. One call then shows the pin. That call cannot be made repeatable, so where its
// answer is lost the board's pins are looked through.
package pinterest

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"pressroom/internal/network"
)

const (
	platform         = "pinterest"
	defaultAuthorize = "https://www.pinterest.com"
	defaultAPI       = "https://api.pinterest.com"
	defaultWeb       = "https://www.pinterest.com"
	defaultVersion   = "v5"
	boardOf          = "board" // in a grant's Extra: the id of the board
)

// defaultScopes are what publishing needs, on boards that are not secret.
var defaultScopes = []string{"user_accounts:read", "boards:read", "boards:write", "pins:read", "pins:write"}

// Options are what an operator or a test may set. The zero value is the real network, without an app to connect
// accounts for.
type Options struct {
	network.App

	AuthorizeHost string `json:"authorize_host"` // base URL of the consent page
	APIHost       string `json:"api_host"`       // base URL of the API; an account keeps the one it was connected by
	Version       string `json:"version"`        // of the API
	WebURL        string `json:"web_url"`        // base URL of pins' addresses
}

// Network is Pinterest's publishing protocol. It keeps nothing between calls.
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

// defaultSettled leaves the network longer for the images, of which no byte is given out after half of it, than its
// answer is waited for.
const defaultSettled = network.Span(2 * time.Minute)

func (o Options) complete() Options {
	o.Settled = cmp.Or(o.Settled, defaultSettled)
	o.App = o.Complete(platform, defaultScopes...)
	o.AuthorizeHost = strings.TrimRight(cmp.Or(o.AuthorizeHost, defaultAuthorize), "/")
	o.APIHost = strings.TrimRight(cmp.Or(o.APIHost, defaultAPI), "/")
	o.Version = cmp.Or(o.Version, defaultVersion)
	o.WebURL = strings.TrimRight(cmp.Or(o.WebURL, defaultWeb), "/")
	return o
}

// Platform is the network's name in the contract.
func (n *Network) Platform() string { return platform }

// Check finds what the network would not take.
func (n *Network) Check(c network.Content) []network.Problem { return n.opts.Rules.Check(c) }

// Takes is what it is checked by.
func (n *Network) Takes() network.Rules { return *n.opts.Rules }

// Connect always fails: there are no passwords here.
func (n *Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.Unusable(errors.New("a Pinterest account is connected in a browser"))
}

// on is a call of the API by an account.
func (n *Network) on(g network.Grant, method, path string) network.Call {
	return g.Call(method, n.opts.Version, path)
}

// do makes the call and reads what it is answered with.
func (n *Network) do(ctx context.Context, c network.Call, into any) error {
	return n.client.Read(ctx, c, into, n.refusal, http.StatusOK, http.StatusCreated)
}

var numericID = regexp.MustCompile(`^[0-9]{1,40}$`)

// isID tells whether a text has the form of every id that the network gives.
func isID(text string) bool { return numericID.MatchString(text) }

// board is where the account's pins go.
func board(g network.Grant) (string, error) {
	if id := g.Extra[boardOf]; isID(id) {
		return id, nil
	}
	return "", network.Unusable(errors.New("the grant names no board"))
}
