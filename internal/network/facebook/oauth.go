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
	maxName           = 200              // characters kept of a name
	createContentTask = "CREATE_CONTENT" // task on a Page
	pageFields        = "id,name,username,access_token,tasks"
)

// Kinds returns the only sign-in method.
func (n *Network) Kinds() []string { return []string{""} }

// Authorize returns the URL of the consent page. The network does not support PKCE.
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

// Exchange trades the code for a token of the person, trades that for one of sixty days, and returns the Pages on which
// the person may post. The error is of class AuthDead if the code is refused or a permission was declined.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	short, err := n.login().ExchangeCode(ctx, n.opts.GraphHost, a.Redirect, code)
	if err != nil {
		return nil, err
	}
	person, err := n.extendToken(ctx, network.Grant{Server: n.opts.GraphHost}, short.Access)
	if err != nil {
		return nil, err
	}
	if person.Scopes, err = n.login().Permissions(ctx, person); err != nil {
		return nil, err
	}
	for _, needed := range requiredScopes { // people can decline single ones
		if !slices.Contains(person.Scopes, needed) {
			return nil, &network.Error{
				Class: network.AuthDead, Status: http.StatusOK, Code: needed,
				Err: fmt.Errorf("the permission %s was declined", needed),
			}
		}
	}
	return n.pages(ctx, person)
}

// Refresh trades the person's token for another one of sixty days and reads the Page's token again. The error is of
// class AuthDead if the person may no longer post on the Page.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	person, err := n.extendToken(ctx, g, g.Refresh)
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
		Class: network.AuthDead, Status: http.StatusOK, Code: createContentTask,
		Err: errors.New("the person may no longer post on the Page"),
	}
}

// extendToken returns the person's grant with a new token of sixty days. The Page's grant expires with it, because a
// longer life is unconfirmed.
func (n *Network) extendToken(ctx context.Context, g network.Grant, token string) (network.Grant, error) {
	long, err := n.login().ExtendToken(ctx, g.Server, token)
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

// pages returns the Pages on which the person may post, each with its own token.
func (n *Network) pages(ctx context.Context, person network.Grant) ([]network.Candidate, error) {
	pages, err := n.login().Pages(ctx, person, pageFields)
	if err != nil {
		return nil, err
	}
	var found []network.Candidate
	for _, p := range pages {
		if !slices.Contains(p.Tasks, createContentTask) {
			continue
		}
		g := person
		g.Account, g.Access, g.Username = p.ID, p.Access, network.Clip(p.Username, maxName)
		if g.Username == "" { // optional for Pages
			g.Username = network.Clip(p.Name, maxName)
		}
		found = append(found, network.Candidate{Grant: g, DisplayName: network.Clip(p.Name, maxName)})
	}
	return found, nil
}
