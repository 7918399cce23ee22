package facebook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

const (
	maxName    = 200 // characters kept of what a Page calls itself
	mayPost    = "CREATE_CONTENT"
	pageFields = "id,name,username,access_token,tasks"
)

// Kinds names the one way of signing in.
func (n *Network) Kinds() []string { return []string{""} }

// Authorize is the address of the consent page. The network takes no PKCE.
func (n *Network) Authorize(a network.Authorization) string {
	return n.opts.AuthorizeHost + "/" + n.opts.Version + "/dialog/oauth?" + url.Values{
		"client_id":     {n.opts.ClientID},
		"redirect_uri":  {a.Redirect},
		"response_type": {"code"},
		"scope":         {strings.Join(n.opts.Scopes, ",")},
		"state":         {a.State},
	}.Encode()
}

func (n *Network) login() graph.Login {
	return graph.Login{
		Client: n.graph, ClientID: n.opts.ClientID, ClientSecret: n.opts.ClientSecret, Version: n.opts.Version,
	}
}

// Exchange trades the code for a token of the person, that one for a token of sixty days, and reads the Pages on which
// the person may post. A code that the network does not take, and a person who withheld a permission, are AuthDead.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	short, err := n.login().Redeem(ctx, n.opts.GraphHost, a.Redirect, code)
	if err != nil {
		return nil, err
	}
	person, err := n.lengthen(ctx, network.Grant{Server: n.opts.GraphHost}, short.Access)
	if err != nil {
		return nil, err
	}
	if person.Scopes, err = n.login().Permissions(ctx, person); err != nil {
		return nil, err
	}
	for _, needed := range neededScopes { // people may take single ones back on the consent page
		if !slices.Contains(person.Scopes, needed) {
			return nil, &network.Error{
				Class: network.AuthDead, Status: http.StatusOK, Code: needed,
				Err: fmt.Errorf("the permission %s was not given", needed),
			}
		}
	}
	return n.pages(ctx, person)
}

// Refresh trades the person's token for one of another sixty days and reads the Page's token again. Where the person
// may not post on the Page any more it is AuthDead.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	person, err := n.lengthen(ctx, g, g.Refresh)
	if err != nil {
		return network.Grant{}, err
	}
	found, err := n.pages(ctx, person)
	if err != nil {
		return network.Grant{}, err
	}
	for _, f := range found {
		if f.Grant.Account == g.Account {
			return f.Grant, nil
		}
	}
	return network.Grant{}, &network.Error{
		Class: network.AuthDead, Status: http.StatusOK, Code: mayPost,
		Err: errors.New("the person may not post on the Page any more"),
	}
}

// lengthen is g as the person's: with a new token of sixty days for both, until it is known for which Page. That a
// Page's token outlives the person's is not confirmed, so it is not counted on.
func (n *Network) lengthen(ctx context.Context, g network.Grant, token string) (network.Grant, error) {
	long, err := n.login().Lengthen(ctx, g.Server, token)
	if err != nil {
		return network.Grant{}, err
	}
	long.Refresh, long.RefreshFor = long.Access, long.Expires
	g = long.Grant(g, n.opts.Now())
	if g.Holder == "" {
		g.Holder, err = n.login().Holder(ctx, g)
	}
	return g, err
}

// pages are the Pages on which the person may post, each with its own token.
func (n *Network) pages(ctx context.Context, person network.Grant) ([]network.Candidate, error) {
	listed, err := n.login().Pages(ctx, person, pageFields)
	if err != nil {
		return nil, err
	}
	var found []network.Candidate
	for _, p := range listed {
		if !slices.Contains(p.Tasks, mayPost) {
			continue
		}
		g := person
		g.Account, g.Access, g.Username = p.ID, p.Access, network.Clip(p.Username, maxName)
		if g.Username == "" { // not every Page has one
			g.Username = network.Clip(p.Name, maxName)
		}
		found = append(found, network.Candidate{Grant: g, DisplayName: network.Clip(p.Name, maxName)})
	}
	return found, nil
}
