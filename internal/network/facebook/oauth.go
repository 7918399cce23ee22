package facebook

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

const (
	maxName           = 200              // characters kept of a name
	createContentTask = "CREATE_CONTENT" // task that lets a person post on a Page
	pageFields        = "id,name,username,access_token"
)

// Kinds returns the only sign-in method.
func (n *Network) Kinds() []string { return []string{""} }

// Authorize returns the URL of the consent page. The network does not support PKCE.
func (n *Network) Authorize(a network.Authorization) string {
	params := url.Values{
		"client_id":     {n.opts.ClientID},
		"redirect_uri":  {a.Redirect},
		"response_type": {"code"},
		"scope":         {strings.Join(n.opts.Scopes, ",")},
		"state":         {a.State},
	}
	graph.SetConfig(params, n.opts.ConfigID)
	return n.opts.AuthorizeHost + "/" + n.opts.Version + "/dialog/oauth?" + params.Encode()
}

func (n *Network) login() graph.Login {
	return graph.Login{
		Client: n.graph, ClientID: n.opts.ClientID, ClientSecret: n.opts.ClientSecret, Version: n.opts.Version,
	}
}

// Exchange exchanges the code for a token of the person that lasts sixty days. It returns the Pages that the person may
// post on. The error is of class ReconnectRequired if the code is rejected or a permission was declined.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	shortLived, err := n.login().ExchangeCode(ctx, n.opts.GraphHost, a.Redirect, code)
	if err != nil {
		return nil, err
	}
	person, err := n.extendToken(ctx, network.Grant{Server: n.opts.GraphHost}, shortLived.AccessToken)
	if err != nil {
		return nil, err
	}
	if person.Scopes, err = n.login().Permissions(ctx, person); err != nil {
		return nil, err
	}
	if err := network.RequireScopes(person.Scopes, requiredScopes...); err != nil {
		return nil, err
	}
	return n.candidates(ctx, person)
}

// Refresh exchanges the person's token for a new token that lasts sixty days, and reads the Page's token again. The
// error is of class ReconnectRequired if the person may no longer post on the Page.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	person, err := n.extendToken(ctx, g, g.RefreshToken)
	if err != nil {
		return network.Grant{}, err
	}
	page, err := n.findPage(ctx, person, g.Account)
	if err != nil {
		return network.Grant{}, err
	}
	return pageGrant(person, page), nil
}

// findPage returns a Page with its token. A Page of a business portfolio may not be in the person's list of Pages, so a
// separate call reads it. The error is of class ReconnectRequired if the person may not post on the Page.
func (n *Network) findPage(ctx context.Context, person network.Grant, id string) (graph.Page, error) {
	pages, _, err := n.login().OwnPages(ctx, person, pageFields)
	if err != nil {
		return graph.Page{}, err
	}
	i := slices.IndexFunc(pages, func(p graph.Page) bool { return p.ID == id })
	if i >= 0 && canPost(pages[i]) {
		return pages[i], nil
	}
	var p graph.Page
	if i < 0 {
		p, err = n.login().Page(ctx, person, id, pageFields)
	}
	netErr, ok := errors.AsType[*network.Error](err)
	switch {
	case ok && !graph.IsMissing(netErr):
		return graph.Page{}, err
	case p.ID != id || p.Access == "":
		return graph.Page{}, &network.Error{
			Class: network.ReconnectRequired, Status: http.StatusOK, Code: createContentTask,
			Err: errors.New("the person may no longer post on the Page"),
		}
	}
	return p, nil
}

// extendToken returns the person's grant with a token that lasts sixty days. The Page's token may last longer than the
// person's token, but this is unconfirmed, so the Page's grant expires with the person's token.
func (n *Network) extendToken(ctx context.Context, g network.Grant, token string) (network.Grant, error) {
	longLived, err := n.login().ExtendToken(ctx, g.Server, token)
	if err != nil {
		return network.Grant{}, err
	}
	longLived.RefreshToken, longLived.RefreshExpiresIn = longLived.AccessToken, longLived.ExpiresIn
	g = longLived.Grant(g, n.opts.Now())
	if g.Holder == "" {
		g.Holder, err = n.login().Holder(ctx, g)
	}
	return g, err
}

// candidates returns the Pages that the person may post on, each with its own token. If there are no such Pages, the
// error names the permission or task that may be missing. If some Pages may be missing, the error is
// network.ErrMoreAccounts or network.ErrUnreadAccounts.
func (n *Network) candidates(ctx context.Context, person network.Grant) ([]network.Candidate, error) {
	pages, err := n.login().Pages(ctx, person, pageFields)
	if err != nil && pages == nil {
		return nil, err
	}
	var candidates []network.Candidate
	for _, p := range pages {
		if canPost(p) {
			candidates = append(candidates, network.Candidate{Grant: pageGrant(person, p),
				DisplayName: network.Clip(p.Name, maxName)})
		}
	}
	switch {
	case err != nil:
		return candidates, err
	case len(candidates) > 0:
	case len(pages) > 0:
		return nil, noTaskError()
	case !slices.Contains(person.Scopes, graph.ScopeBusiness):
		return nil, network.PermissionMissing(graph.ScopeBusiness,
			"No Page was found. Pages of a business portfolio need another permission.")
	default:
		return nil, noPageError()
	}
	return candidates, nil
}

func noPageError() *network.Error {
	return &network.Error{
		Class: network.ReconnectRequired, Status: http.StatusOK, Code: scopeShowPages,
		Err: &network.MissingPermissionError{
			Permission: scopeShowPages, Effect: "No Page was found.",
			NextStep: "Connect again and select a Page on Facebook’s consent screen. If none is offered, a Page admin has to give " +
				"you access.",
		},
	}
}

func noTaskError() *network.Error {
	return &network.Error{
		Class: network.ReconnectRequired, Status: http.StatusOK, Code: createContentTask,
		Err: &network.MissingPermissionError{
			Permission: createContentTask, Effect: "Your role on the Pages does not let you publish.",
			NextStep: "A Page admin has to give you the task " + createContentTask + ".",
		},
	}
}

// canPost reports whether the person may post on a Page. It reports true if Facebook does not return the person's
// tasks.
func canPost(p graph.Page) bool { return p.Tasks == nil || slices.Contains(p.Tasks, createContentTask) }

// pageGrant returns the person's grant with the Page's token.
func pageGrant(person network.Grant, p graph.Page) network.Grant {
	g := person
	g.Account, g.AccessToken, g.Username = p.ID, p.Access, network.Clip(p.Username, maxName)
	if g.Username == "" { // A Page may not have a username.
		g.Username = network.Clip(p.Name, maxName)
	}
	return g
}
