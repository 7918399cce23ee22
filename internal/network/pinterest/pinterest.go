// Package pinterest publishes to Pinterest through its API, version 5, for accounts connected in a browser.
//
// Each board is connected as a separate account, because every pin belongs to a board. Pinterest fetches images from
// URLs. A video is uploaded first. A single call without an idempotency key then creates the pin. If the response is
// lost, Resolve searches the board's pins.
//
// Source: https://developers.pinterest.com/docs/api/v5/pins-create.
package pinterest

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	platform         = "pinterest"
	defaultAuthorize = "https://www.pinterest.com"
	defaultAPI       = "https://api.pinterest.com"
	defaultWeb       = "https://www.pinterest.com"
	defaultVersion   = "v5"
	boardKey         = "board" // key of the board's ID in a grant's Extra
)

// defaultScopes are the scopes for publishing on boards that are not secret.
var defaultScopes = []string{"user_accounts:read", "boards:read", "boards:write", "pins:read", scopeWritePins}

const scopeWritePins = "pins:write"

// Options are the settings of the operator. The zero value uses the real network, without an app for connecting
// accounts.
type Options struct {
	network.App

	AuthorizeHost string `json:"authorize_host"` // base URL of the consent page
	APIHost       string `json:"api_host"`       // base URL of the API for newly connected accounts
	Version       string `json:"version"`        // of the API
	WebURL        string `json:"web_url"`        // base URL of permalinks
}

// Network implements Pinterest's publishing protocol. It has no state between calls.
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

// defaultListingDelay is the default of ListingDelay. Pinterest may fetch images during half of this time. That half
// must be longer than the timeout of the call.
const defaultListingDelay = network.Duration(2 * time.Minute)

func (o Options) withDefaults() Options {
	o.ListingDelay = cmp.Or(o.ListingDelay, defaultListingDelay)
	o.App = o.WithDefaults(platform, defaultScopes...)
	o.AuthorizeHost = strings.TrimRight(cmp.Or(o.AuthorizeHost, defaultAuthorize), "/")
	o.APIHost = strings.TrimRight(cmp.Or(o.APIHost, defaultAPI), "/")
	o.Version = cmp.Or(o.Version, defaultVersion)
	o.WebURL = strings.TrimRight(cmp.Or(o.WebURL, defaultWeb), "/")
	return o
}

// Platform returns the network's name in the API, "pinterest".
func (n *Network) Platform() string { return platform }

// Check returns what the network would reject, or accept only with changes.
func (n *Network) Check(c network.Content) []network.Problem {
	return slices.Concat(n.opts.Rules.Check(c), n.opts.Rules.CheckTitle(platform, c), checkOptions(c.Options))
}

// Rules returns the limits that Check applies.
func (n *Network) Rules() network.Rules { return *n.opts.Rules }

// Connect always fails, because accounts are connected in a browser.
func (n *Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.PermanentError(errors.New("connect a Pinterest account in a browser"))
}

// newCall returns a call to the API with the account's token.
func (n *Network) newCall(g network.Grant, method, path string) network.Call {
	return g.Call(method, n.opts.Version, path)
}

// do makes the call and decodes the response.
func (n *Network) do(ctx context.Context, c network.Call, out any) error {
	return n.client.Read(ctx, c, out, n.rejection, http.StatusOK, http.StatusCreated)
}

var numericID = regexp.MustCompile(`^[0-9]{1,40}$`)

// isID reports whether a text has the format of the network's IDs.
func isID(text string) bool { return numericID.MatchString(text) }

// boardID returns the ID of the account's board.
func boardID(g network.Grant) (string, error) {
	if id := g.Extra[boardKey]; isID(id) {
		return id, nil
	}
	return "", network.PermanentError(errors.New("the grant has no board; connect the account again"))
}
