package threads

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

const maxName = 200 // characters kept of a name

// Kinds returns the only sign-in method.
func (n *Network) Kinds() []string { return []string{""} }

// Authorize returns the URL of the consent page. The network does not support PKCE.
func (n *Network) Authorize(a network.Authorization) string {
	return n.opts.AuthorizeHost + "/oauth/authorize?" + url.Values{
		"client_id":     {n.opts.ClientID},
		"redirect_uri":  {a.Redirect},
		"response_type": {"code"},
		"scope":         {strings.Join(n.opts.Scopes, ",")},
		"state":         {a.State},
	}.Encode()
}

// Exchange exchanges the code for a token that lasts sixty days, and returns the token's account. The error is of class
// ReconnectRequired if the code is rejected, or if Threads reports that the person did not allow publishing.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	code = strings.TrimSuffix(code, "#_") // Threads appends #_ to redirect URIs.
	shortLived, err := n.Client.RequestToken(ctx, http.MethodPost, n.opts.GraphHost, "oauth/access_token", url.Values{
		"client_id": {n.opts.ClientID}, "client_secret": {n.opts.ClientSecret},
		"code": {code}, "grant_type": {"authorization_code"}, "redirect_uri": {a.Redirect},
	})
	if err != nil {
		return nil, err
	}
	longLived, err := n.Client.RequestToken(ctx, http.MethodGet, n.opts.GraphHost, "access_token", url.Values{
		"grant_type": {"th_exchange_token"}, "client_secret": {n.opts.ClientSecret},
		"access_token": {shortLived.AccessToken},
	})
	if err != nil {
		return nil, err
	}
	g := graph.ApplyToken(network.Grant{Server: n.opts.GraphHost}, longLived.Token, n.opts.Now())
	if g.Scopes, err = n.grantedScopes(ctx, g); err == nil { // If this fails, the scopes remain unknown.
		if err := network.RequireScopes(g.Scopes, scopePublish); err != nil {
			return nil, err
		}
	}
	return n.candidates(ctx, g)
}

// grantedScopes returns the permissions that a person granted. Threads reports them only to testers of the app.
//
// Source: https://developers.facebook.com/documentation/threads/troubleshooting/debug-access-token
func (n *Network) grantedScopes(ctx context.Context, g network.Grant) ([]string, error) {
	var response struct {
		Data struct {
			Scopes []string `json:"scopes"`
		} `json:"data"`
	}
	call := n.NewCall(g, http.MethodGet, "debug_token", url.Values{"input_token": {g.AccessToken}}, &response)
	call.Secrets = []string{g.AccessToken}
	if err := n.Client.Do(ctx, call); err != nil {
		return nil, err
	}
	if len(response.Data.Scopes) == 0 {
		return nil, network.InvalidResponse(errors.New("reading a token: the response has no permissions"))
	}
	return response.Data.Scopes, nil
}

// holderPrefix is the prefix of Grant.Holder. The person's app-specific ID follows.
const holderPrefix = "threads:"

// candidates returns the account that the grant's token belongs to, with the grant.
func (n *Network) candidates(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	var me struct {
		ID       string `json:"id"`
		Username string `json:"username"`
		Name     string `json:"name"`
	}
	err := n.Client.Do(ctx, n.NewCall(g, http.MethodGet, "me", url.Values{"fields": {"id,username,name"}}, &me))
	if err != nil {
		return nil, err
	}
	if !graph.IsID(me.ID) || me.Username == "" {
		return nil, network.InvalidResponse(errors.New("reading the account: the response has no id or name"))
	}
	g.Account, g.Username, g.Holder = me.ID, network.Clip(me.Username, maxName), holderPrefix+me.ID
	return []network.Candidate{{Grant: g, DisplayName: network.Clip(me.Name, maxName)}}, nil
}

// Refresh exchanges the access token for a new token that lasts sixty days. There is no refresh token. A token less
// than a day old is returned unchanged, because Threads does not renew it. The error is of class ReconnectRequired if
// the token has expired.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	g.Holder = holderPrefix + g.Account // Older grants have no holder.
	if graph.IsTooRecent(g, n.opts.Now()) {
		return g, nil
	}
	token, err := n.Client.RequestToken(ctx, http.MethodGet, g.Server, "refresh_access_token", url.Values{
		"grant_type": {"th_refresh_token"}, "access_token": {g.AccessToken},
	})
	if err != nil {
		return network.Grant{}, err
	}
	return graph.ApplyToken(g, token.Token, n.opts.Now()), nil
}
