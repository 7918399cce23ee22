package threads

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

const maxName = 200 // characters kept of what an account calls itself

// Kinds names the one way of signing in.
func (n *Network) Kinds() []string { return []string{""} }

// Authorize is the address of the consent page. The network takes no PKCE.
func (n *Network) Authorize(a network.Authorization) string {
	return n.opts.AuthorizeHost + "/oauth/authorize?" + url.Values{
		"client_id":     {n.opts.ClientID},
		"redirect_uri":  {a.Redirect},
		"response_type": {"code"},
		"scope":         {strings.Join(n.opts.Scopes, ",")},
		"state":         {a.State},
	}.Encode()
}

// Exchange trades the code for a token of an hour, that one for a token of sixty days, and reads whose it is. A code
// that the network does not take is AuthDead.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	code = strings.TrimSuffix(code, "#_") // the network ends its redirects so
	short, err := n.Client.Sign(ctx, http.MethodPost, n.opts.GraphHost, "oauth/access_token", url.Values{
		"client_id": {n.opts.ClientID}, "client_secret": {n.opts.ClientSecret},
		"code": {code}, "grant_type": {"authorization_code"}, "redirect_uri": {a.Redirect},
	})
	if err != nil {
		return nil, err
	}
	long, err := n.Client.Sign(ctx, http.MethodGet, n.opts.GraphHost, "access_token", url.Values{
		"grant_type": {"th_exchange_token"}, "client_secret": {n.opts.ClientSecret}, "access_token": {short.Access},
	})
	if err != nil {
		return nil, err
	}
	g := graph.Issued(network.Grant{Server: n.opts.GraphHost, Scopes: n.opts.Scopes}, long.Token, n.opts.Now())
	return n.whose(ctx, g)
}

// holder is before the id by which the network names a person to this app.
const holder = "threads:"

// whose completes a grant by the account that it is for.
func (n *Network) whose(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	var me struct {
		ID       string `json:"id"`
		Username string `json:"username"`
		Name     string `json:"name"`
	}
	if err := n.Client.Do(ctx,
		n.On(g, http.MethodGet, "me", url.Values{"fields": {"id,username,name"}}, &me)); err != nil {
		return nil, err
	}
	if !graph.IsID(me.ID) || me.Username == "" {
		return nil, network.Unreadable(errors.New("reading the account: the answer lacks its id or its name"))
	}
	g.Account, g.Username, g.Holder = me.ID, network.Clip(me.Username, maxName), holder+me.ID
	return []network.Candidate{{Grant: g, DisplayName: network.Clip(me.Name, maxName)}}, nil
}

// Refresh trades the access token, which is its own refresh token, for one of another sixty days. One that is not yet a
// day old comes back as it is, as the network does not renew it; one that has expired is AuthDead.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	g.Holder = holder + g.Account // of grants that were made before it was noted
	if graph.TooYoung(g, n.opts.Now()) {
		return g, nil
	}
	fresh, err := n.Client.Sign(ctx, http.MethodGet, g.Server, "refresh_access_token", url.Values{
		"grant_type": {"th_refresh_token"}, "access_token": {g.Access},
	})
	if err != nil {
		return network.Grant{}, err
	}
	return graph.Issued(g, fresh.Token, n.opts.Now()), nil
}
