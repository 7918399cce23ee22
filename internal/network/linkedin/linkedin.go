// Package linkedin publishes to LinkedIn by its versioned REST API, for members and the organisations that they
// administer, who are connected in a browser.
//
// Images and videos are uploaded first, which shows nothing; one call then makes the post. That call takes no key of
// ours. LinkedIn refuses the same text twice, but the post that it names then may be one that nobody can see, so the
// refusal proves nothing: a lost answer is resolved by listing the organisation's posts, and for members, whose posts
// may not be listed, a person has to look.
package linkedin

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"pressroom/internal/network"
)

const (
	platform         = "linkedin"
	defaultAuthorize = "https://www.linkedin.com"
	defaultAPI       = "https://api.linkedin.com"
	defaultWeb       = "https://www.linkedin.com"
	defaultVersion   = "202606" // each lives for about a year
	restli           = "2.0.0"
)

// What publishing needs. The organisations' scopes are given to apps that LinkedIn has approved for them.
var (
	memberScopes       = []string{"openid", "profile", "email", "w_member_social"}
	organizationScopes = []string{"w_organization_social", "r_organization_social", "rw_organization_admin"}
)

// The kinds of account, in a grant's Kind.
const (
	member       = "member"
	organization = "organization"
)

// Options are what an operator or a test may set. The zero value is the real network, without an app to connect
// accounts for.
type Options struct {
	network.App

	AuthorizeHost string `json:"authorize_host"` // base URL of the consent page and of the tokens
	APIHost       string `json:"api_host"`       // base URL of the API; an account keeps the one it was connected by
	WebURL        string `json:"web_url"`        // base URL of posts
	Version       string `json:"version"`        // of the API, as YYYYMM
	// whether organisations may be connected; true by default, and of no use to an app that is not approved for it
	Organizations *bool `json:"organizations"`
}

// Network is LinkedIn's publishing protocol. It keeps nothing between calls.
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
	o.Organizations = cmp.Or(o.Organizations, new(true))
	scopes := memberScopes
	if *o.Organizations {
		scopes = slices.Concat(memberScopes, organizationScopes)
	}
	o.App = o.Complete(platform, scopes...)
	o.AuthorizeHost = strings.TrimRight(cmp.Or(o.AuthorizeHost, defaultAuthorize), "/")
	o.APIHost = strings.TrimRight(cmp.Or(o.APIHost, defaultAPI), "/")
	o.WebURL = strings.TrimRight(cmp.Or(o.WebURL, defaultWeb), "/")
	o.Version = cmp.Or(o.Version, defaultVersion)
	return o
}

// Platform is the network's name in the contract.
func (n *Network) Platform() string { return platform }

// Check finds what the network would not take.
func (n *Network) Check(c network.Content) []network.Problem { return n.opts.Rules.Check(c) }

// Takes is what it is checked by.
func (n *Network) Takes() network.Rules { return *n.opts.Rules }

// rest is a call of the versioned API by an account; its name, for the log, is the path's first part.
func (n *Network) rest(g network.Grant, method, path string) network.Call {
	name, _, _ := strings.Cut(path, "/")
	header := http.Header{}
	header.Set("LinkedIn-Version", n.opts.Version)
	header.Set("X-Restli-Protocol-Version", restli)
	return network.Call{Name: name, Method: method, URL: g.Server + "/rest/" + path, Header: header, Bearer: g.Access}
}

// finder is rest for a search.
func (n *Network) finder(g network.Grant, path string) network.Call {
	call := n.rest(g, http.MethodGet, path)
	call.Header.Set("X-RestLi-Method", "FINDER")
	return call
}

// ask makes a call and reads its answer into out, unless that is nil.
func (n *Network) ask(ctx context.Context, g network.Grant, call network.Call, out any) (network.Answer, error) {
	answer, err := n.client.Do(ctx, call)
	switch {
	case err != nil:
		return network.Answer{}, err
	case answer.Status < 200 || answer.Status > 299:
		return network.Answer{}, n.refusal(answer, g)
	case out != nil:
		return answer, answer.Decode(out)
	}
	return answer, nil
}

var urnForm = regexp.MustCompile(`^urn:li:([A-Za-z]{1,40}):[A-Za-z0-9_-]{1,120}$`)

// isURN tells whether a text names a thing of one of these types.
func isURN(text string, types ...string) bool {
	match := urnForm.FindStringSubmatch(text)
	for _, t := range types {
		if match != nil && match[1] == t {
			return true
		}
	}
	return false
}

// Connect always fails: there are no passwords here.
func (n *Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.Unusable(errors.New("a LinkedIn account is connected in a browser"))
}
