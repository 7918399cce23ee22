package instagram

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

// Keys in Grant.Extra, for accounts that are connected with Facebook Login. The person's token is stored in Extra
// instead of RefreshToken, because the Page's token works without it.
const (
	pageIDKey    = "page"
	userTokenKey = "user_token"
)

func (n *Network) login() graph.Login {
	f := n.opts.Facebook
	return graph.Login{Client: n.Client, ClientID: f.ClientID, ClientSecret: f.ClientSecret, Version: n.opts.Version}
}

// exchangeFacebook implements Exchange for Facebook Login. For each Page that the person selected, it returns the
// Page's Instagram account with the Page's token.
func (n *Network) exchangeFacebook(
	ctx context.Context, a network.Authorization, code string,
) ([]network.Candidate, error) {
	person := network.Grant{Server: n.opts.Facebook.GraphHost, Kind: kindFacebook}
	shortLived, err := n.login().ExchangeCode(ctx, person.Server, a.Redirect, code)
	if err != nil {
		return nil, err
	}
	if person, err = n.extendToken(ctx, person, shortLived.AccessToken); err != nil {
		return nil, err
	}
	if person.Scopes, err = n.login().Permissions(ctx, person); err != nil {
		return nil, err
	}
	if err := network.RequireScopes(person.Scopes, scopeFacebookPublish); err != nil {
		return nil, err
	}
	if person.Holder, err = n.login().Holder(ctx, person); err != nil {
		return nil, err
	}
	pages, err := n.login().Pages(ctx, person, "id,access_token,instagram_business_account{id,username,name}")
	if err != nil && pages == nil {
		return nil, err
	}
	var candidates []network.Candidate
	for _, p := range pages {
		if c, ok := newCandidate(pageGrant(person, p), p.Instagram); ok {
			candidates = append(candidates, c)
		}
	}
	if err != nil {
		return candidates, err
	}
	if len(candidates) == 0 && !slices.Contains(person.Scopes, graph.ScopeBusiness) {
		return nil, network.PermissionMissing(graph.ScopeBusiness,
			"No account was found. Accounts whose Page belongs to a business portfolio need another permission.")
	}
	return candidates, nil
}

// extendToken returns the person's grant with a token that lasts sixty days.
func (n *Network) extendToken(ctx context.Context, person network.Grant, token string) (network.Grant, error) {
	longLived, err := n.login().ExtendToken(ctx, person.Server, token)
	if err != nil {
		return network.Grant{}, err
	}
	return graph.ApplyToken(person, longLived.Token, n.opts.Now()), nil
}

// pageGrant returns the person's grant with the Page's token. Calls for the account use the Page's token. The grant
// expires with the person's token, because it is unconfirmed whether the Page's token lasts longer.
func pageGrant(person network.Grant, p graph.Page) network.Grant {
	g := person
	g.AccessToken = p.Access
	g.Extra = map[string]string{pageIDKey: p.ID, userTokenKey: person.AccessToken, graph.IssuedAtKey: person.Extra[graph.IssuedAtKey]}
	return g
}

// refreshFacebook exchanges the person's token for a new token and uses the new token to request the Page's token. The
// error is of class ReconnectRequired if the person no longer has access to the Page.
func (n *Network) refreshFacebook(ctx context.Context, g network.Grant) (network.Grant, error) {
	id := g.Extra[pageIDKey]
	if !graph.IsID(id) {
		return network.Grant{}, network.PermanentError(errors.New("the grant has no Page"))
	}
	person, err := n.extendToken(ctx, g, g.Extra[userTokenKey])
	if err != nil {
		return network.Grant{}, err
	}
	p, err := n.login().Page(ctx, person, id, "id,access_token")
	netErr, ok := errors.AsType[*network.Error](err)
	switch {
	case ok && !graph.IsMissing(netErr):
		return network.Grant{}, err
	case p.Access == "":
		return network.Grant{}, &network.Error{
			Class: network.ReconnectRequired, Status: http.StatusOK,
			Err: errors.New("the person no longer has a role on the Page"),
		}
	}
	p.ID = id
	return pageGrant(person, p), nil
}
