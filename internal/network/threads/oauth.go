package threads

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

const (
	tooYoung = 24 * time.Hour // a token's age before which the network does not renew it
	issuedAt = "issued_at"    // in a grant's Extra: when its token was made, RFC 3339
	maxName  = 200            // characters kept of what an account calls itself
)

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
	var short, long network.Token
	err := n.sign(ctx, http.MethodPost, n.opts.GraphHost, "oauth/access_token", url.Values{
		"client_id": {n.opts.ClientID}, "client_secret": {n.opts.ClientSecret},
		"code": {code}, "grant_type": {"authorization_code"}, "redirect_uri": {a.Redirect},
	}, &short)
	if err != nil {
		return nil, err
	}
	err = n.sign(ctx, http.MethodGet, n.opts.GraphHost, "access_token", url.Values{
		"grant_type": {"th_exchange_token"}, "client_secret": {n.opts.ClientSecret}, "access_token": {short.Access},
	}, &long)
	if err != nil {
		return nil, err
	}
	g := n.grant(network.Grant{Server: n.opts.GraphHost, Scopes: n.opts.Scopes}, long)
	return n.whose(ctx, g)
}

// whose completes a grant by the account that it is for.
func (n *Network) whose(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	var me struct {
		ID       string `json:"id"`
		Username string `json:"username"`
		Name     string `json:"name"`
	}
	if err := n.graph.Do(ctx, n.on(g, http.MethodGet, "me", url.Values{"fields": {"id,username,name"}}, &me)); err != nil {
		return nil, err
	}
	if !graph.IsID(me.ID) || me.Username == "" {
		return nil, network.Unreadable(errors.New("reading the account: the answer lacks its id or its name"))
	}
	g.Account, g.Username = me.ID, network.Clip(me.Username, maxName)
	return []network.Candidate{{Grant: g, DisplayName: network.Clip(me.Name, maxName)}}, nil
}

// Refresh trades the access token, which is its own refresh token, for one of another sixty days. One that is not yet a
// day old comes back as it is, as the network does not renew it; one that has expired is AuthDead.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	issued, err := time.Parse(time.RFC3339, g.Extra[issuedAt])
	if err == nil && n.opts.Now().Sub(issued) < tooYoung {
		return g, nil
	}
	var fresh network.Token
	err = n.sign(ctx, http.MethodGet, g.Server, "refresh_access_token", url.Values{
		"grant_type": {"th_refresh_token"}, "access_token": {g.Access},
	}, &fresh)
	if err != nil {
		return network.Grant{}, err
	}
	return n.grant(g, fresh), nil
}

// sign makes a call that gives out a token.
func (n *Network) sign(ctx context.Context, verb, server, path string, params url.Values, out *network.Token) error {
	err := n.graph.Do(ctx, graph.Call{
		Purpose: network.Signing, Method: verb, Server: server, Path: path, Params: params, Out: out,
		Secrets: []string{params.Get("client_secret"), params.Get("code"), params.Get("access_token")},
	})
	if err != nil {
		return err
	}
	if out.Access == "" {
		return network.Unreadable(errors.New("asking for a token: the answer has none"))
	}
	return nil
}

// grant is g with a new token.
func (n *Network) grant(g network.Grant, t network.Token) network.Grant {
	now := n.opts.Now().UTC()
	g = t.Grant(g, now)
	g.Extra = map[string]string{issuedAt: now.Format(time.RFC3339)}
	return g
}
