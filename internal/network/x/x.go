package x

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

const (
	platform         = "x"
	defaultAuthorize = "https://x.com"
	defaultAPI       = "https://api.x.com"
	defaultWeb       = "https://x.com"
	defaultVersion   = "2"
)

const scopeWrite = "tweet.write"

// defaultScopes are the scopes for publishing. The scope offline.access is needed for a refresh token.
var defaultScopes = []string{"tweet.read", scopeWrite, "users.read", "media.write", "offline.access"}

// Options are the settings of the operator. The zero value uses the real network, without an app for connecting
// accounts.
type Options struct {
	network.App

	AuthorizeHost string `json:"authorize_host"` // base URL of the consent page
	APIHost       string `json:"api_host"`       // base URL of the API for newly connected accounts
	Version       string `json:"version"`        // of the API
	WebURL        string `json:"web_url"`        // base URL of permalinks
}

// Network implements X's publishing protocol. It has no state between calls.
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

func (o Options) withDefaults() Options {
	o.App = o.WithDefaults(platform, defaultScopes...)
	rules := *o.Rules
	rules.Text.Unit.Count = Count // not part of the JSON
	o.Rules = &rules
	o.AuthorizeHost = strings.TrimRight(cmp.Or(o.AuthorizeHost, defaultAuthorize), "/")
	o.APIHost = strings.TrimRight(cmp.Or(o.APIHost, defaultAPI), "/")
	o.Version = cmp.Or(o.Version, defaultVersion)
	o.WebURL = strings.TrimRight(cmp.Or(o.WebURL, defaultWeb), "/")
	return o
}

// Platform returns the network's name in the API, "x".
func (n *Network) Platform() string { return platform }

// Check returns what the network would reject, or accept only with changes.
func (n *Network) Check(c network.Content) []network.Problem {
	return slices.Concat(n.opts.Rules.Check(c), checkOptions(c))
}

// Rules returns the limits that Check applies.
func (n *Network) Rules() network.Rules { return *n.opts.Rules }

// Connect always fails, because accounts are connected in a browser.
func (n *Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.PermanentError(errors.New("connect an X account in a browser"))
}

// newCall returns a call to the API with the account's token.
func (n *Network) newCall(g network.Grant, method, path string) network.Call {
	return g.Call(method, n.opts.Version, path)
}

// do makes the call and decodes the response into data.
func (n *Network) do(ctx context.Context, c network.Call, data any) error {
	return n.client.Read(ctx, c, data, n.rejection, http.StatusOK, http.StatusCreated)
}

var numericID = regexp.MustCompile(`^[0-9]{1,19}$`)

// isID reports whether a text has the format of the network's IDs.
func isID(text string) bool { return numericID.MatchString(text) }
