// Package linkedin publishes to LinkedIn with its versioned REST API, for members and the organizations that they
// administer. Accounts are connected in a browser.
//
// Images and videos are uploaded first. A single call then creates the post. LinkedIn does not support client-chosen
// keys. LinkedIn rejects duplicate text. A rejection does not prove that the post exists, because the original may be a
// post that is not visible. If the response is lost, Resolve lists the organization's posts. Members' posts usually
// cannot be listed, so a person has to check.
//
// Source: https://learn.microsoft.com/linkedin/marketing/community-management/shares/posts-api
package linkedin

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
	platform         = "linkedin"
	defaultAuthorize = "https://www.linkedin.com"
	defaultAPI       = "https://api.linkedin.com"
	defaultWeb       = "https://www.linkedin.com"
	defaultVersion   = "202606" // supported for about a year
	restli           = "2.0.0"
)

// The scopes of an app's products. LinkedIn rejects the whole consent if an app requests a scope outside of its
// products. An app with the Community Management API cannot have other products. Such an app has no OpenID scopes and
// uses r_basicprofile to identify the member.
var (
	// For the products Share on LinkedIn and Sign In with LinkedIn using OpenID Connect.
	memberScopes       = []string{scopeOpenID, "profile", "email", scopeWriteMember}
	organizationScopes = []string{scopeWriteOrganization, "r_organization_social", scopeOrganizationAdmin}
	companyScopes      = slices.Concat([]string{scopeBasicProfile, scopeWriteMember}, organizationScopes)
)

const (
	scopeOpenID            = "openid"
	scopeBasicProfile      = "r_basicprofile"
	scopeWriteMember       = "w_member_social"
	scopeWriteOrganization = "w_organization_social"
	scopeOrganizationAdmin = "rw_organization_admin"
)

// The types of account, in Grant.Kind.
const (
	member       = "member"
	organization = "organization"
)

// Options are the settings of the operator. The zero value uses the real network, without an app for connecting
// accounts.
type Options struct {
	network.App

	AuthorizeHost string `json:"authorize_host"` // base URL of the consent page and the token endpoint
	APIHost       string `json:"api_host"`       // base URL of the API for newly connected accounts
	WebURL        string `json:"web_url"`        // base URL of posts
	Version       string `json:"version"`        // of the API, as YYYYMM
	// whether the app can also connect organizations, because it has the Advertising API
	Organizations bool `json:"organizations"`
	// the app for organizations and their members, with the Community Management API
	Company network.OAuthApp `json:"company"`
	// reads the pages of link cards; if nil, no pages are read
	ReadPage network.PageReader `json:"-"`
}

// Network implements LinkedIn's publishing protocol. It has no state between calls.
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
	scopes := memberScopes
	if o.Organizations {
		scopes = slices.Concat(memberScopes, organizationScopes)
	}
	if len(o.Company.Scopes) == 0 {
		o.Company.Scopes = companyScopes
	}
	o.App = o.WithDefaults(platform, scopes...)
	o.AuthorizeHost = strings.TrimRight(cmp.Or(o.AuthorizeHost, defaultAuthorize), "/")
	o.APIHost = strings.TrimRight(cmp.Or(o.APIHost, defaultAPI), "/")
	o.WebURL = strings.TrimRight(cmp.Or(o.WebURL, defaultWeb), "/")
	o.Version = cmp.Or(o.Version, defaultVersion)
	return o
}

// Platform returns the network's name in the API.
func (n *Network) Platform() string { return platform }

// Check returns what the network would reject, or accept only with changes.
func (n *Network) Check(c network.Content) []network.Problem {
	return slices.Concat(n.opts.Rules.Check(c), n.opts.Rules.CheckTitle(platform, c), checkOptions(c))
}

// Rules returns the limits that Check applies.
func (n *Network) Rules() network.Rules { return *n.opts.Rules }

// newCall returns a call to the versioned API with the account's token. Its name in the log is the path's first
// segment.
func (n *Network) newCall(g network.Grant, method, path string) network.Call {
	name, _, _ := strings.Cut(path, "/")
	header := http.Header{}
	header.Set("LinkedIn-Version", n.opts.Version)
	header.Set("X-Restli-Protocol-Version", restli)
	return network.Call{Name: name, Method: method, URL: g.Server + "/rest/" + path, Header: header, Bearer: g.AccessToken}
}

// newFinder returns a call to a finder (Rest.li's method for searches).
func (n *Network) newFinder(g network.Grant, path string) network.Call {
	call := n.newCall(g, http.MethodGet, path)
	call.Header.Set("X-RestLi-Method", "FINDER")
	return call
}

// do makes a call and decodes its response into out, unless out is nil.
func (n *Network) do(ctx context.Context, g network.Grant, call network.Call, out any) (network.Response, error) {
	response, err := n.client.Do(ctx, call)
	switch {
	case err != nil:
		return network.Response{}, err
	case response.Status < 200 || response.Status > 299:
		return network.Response{}, n.responseError(response, g)
	case out != nil:
		return response, response.Decode(out)
	}
	return response, nil
}

var urnPattern = regexp.MustCompile(`^urn:li:([A-Za-z]{1,40}):[A-Za-z0-9_-]{1,120}$`)

// isURN reports whether a text is a URN of one of these types.
func isURN(text string, types ...string) bool {
	match := urnPattern.FindStringSubmatch(text)
	for _, t := range types {
		if match != nil && match[1] == t {
			return true
		}
	}
	return false
}

// Connect always fails because the network has no sign-in with a password.
func (n *Network) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.PermanentError(errors.New("connect LinkedIn accounts in a browser"))
}
