package instagram

import (
	"context"
	"errors"
	"net/http"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

// In a grant's Extra, with Facebook Login. The person's token is no refresh token, as the Page's goes on without it.
const (
	pageID    = "page"
	userToken = "user_token"
)

func (n *Network) login() graph.Login {
	f := n.opts.Facebook
	return graph.Login{Client: n.Client, ClientID: f.ClientID, ClientSecret: f.ClientSecret, Version: n.opts.Version}
}

// exchangeFacebook is Exchange with Facebook Login: the account of each Page that the person chose, with the token of
// its Page.
func (n *Network) exchangeFacebook(
	ctx context.Context, a network.Authorization, code string,
) ([]network.Candidate, error) {
	person := network.Grant{Server: n.opts.Facebook.GraphHost, Kind: byFacebook}
	short, err := n.login().Redeem(ctx, person.Server, a.Redirect, code)
	if err != nil {
		return nil, err
	}
	if person, err = n.lengthen(ctx, person, short.Access); err != nil {
		return nil, err
	}
	if person.Scopes, err = n.login().Permissions(ctx, person); err != nil {
		return nil, err
	}
	if err := mayPublish(person.Scopes, facebookPublish); err != nil {
		return nil, err
	}
	if person.Holder, err = n.login().Holder(ctx, person); err != nil {
		return nil, err
	}
	pages, err := n.login().Pages(ctx, person, "id,access_token,instagram_business_account{id,username,name}")
	if err != nil {
		return nil, err
	}
	var found []network.Candidate
	for _, p := range pages {
		if one, ok := candidate(onPage(person, p), p.Instagram); ok {
			found = append(found, one)
		}
	}
	return found, nil
}

// lengthen is the person's grant with a token of sixty days.
func (n *Network) lengthen(ctx context.Context, person network.Grant, token string) (network.Grant, error) {
	long, err := n.login().Lengthen(ctx, person.Server, token)
	if err != nil {
		return network.Grant{}, err
	}
	return graph.Issued(person, long.Token, n.opts.Now()), nil
}

// onPage is the person's grant with the Page's token, by which the account is called. What that outlives of the
// person's is not counted on.
func onPage(person network.Grant, p graph.Page) network.Grant {
	g := person
	g.Access = p.Access
	g.Extra = map[string]string{pageID: p.ID, userToken: person.Access, graph.IssuedAt: person.Extra[graph.IssuedAt]}
	return g
}

// refreshFacebook trades the person's token for a new one, and asks for the Page's token by that.
func (n *Network) refreshFacebook(ctx context.Context, g network.Grant) (network.Grant, error) {
	id := g.Extra[pageID]
	if !graph.IsID(id) {
		return network.Grant{}, network.Unusable(errors.New("the grant names no Page"))
	}
	person, err := n.lengthen(ctx, g, g.Extra[userToken])
	if err != nil {
		return network.Grant{}, err
	}
	p, err := n.login().Page(ctx, person, id, "id,access_token")
	if err != nil {
		return network.Grant{}, err
	}
	if p.Access == "" {
		return network.Grant{}, &network.Error{
			Class: network.AuthDead, Status: http.StatusOK,
			Err: errors.New("the person has no role on the Page any more"),
		}
	}
	p.ID = id
	return onPage(person, p), nil
}
