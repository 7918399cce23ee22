package instagram

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

// The permission to publish, for each sign-in method. People can decline it.
const (
	scopeInstagramPublish = "instagram_business_content_publish"
	scopeFacebookPublish  = "instagram_content_publish"
)

const maxName = 200 // characters kept of a name

// Kinds returns the sign-in methods for which an app is configured.
func (n *Network) Kinds() []string {
	var kinds []string
	if n.opts.ClientID != "" {
		kinds = append(kinds, kindInstagram)
	}
	if n.opts.Facebook.ClientID != "" {
		kinds = append(kinds, kindFacebook)
	}
	return kinds
}

// Authorize returns the URL of the consent page. The network does not support PKCE.
func (n *Network) Authorize(a network.Authorization) string {
	page, app, scopes := n.opts.AuthorizeHost+"/oauth/authorize", n.opts.ClientID, n.opts.Scopes
	if a.Kind == kindFacebook {
		f := n.opts.Facebook
		page, app, scopes = f.DialogHost+"/"+n.opts.Version+"/dialog/oauth", f.ClientID, f.Scopes
	}
	params := url.Values{
		"client_id":     {app},
		"redirect_uri":  {a.Redirect},
		"response_type": {"code"},
		"scope":         {strings.Join(scopes, ",")},
		"state":         {a.State},
	}
	if a.Kind == kindFacebook {
		graph.SetConfig(params, n.opts.Facebook.ConfigID)
	}
	return page + "?" + params.Encode()
}

// Exchange exchanges the code for a token that lasts sixty days, and returns the accounts that the token gives access
// to. Instagram Login returns one account, and Facebook Login returns the account of each Page. The error is of class
// ReconnectRequired if the code is rejected or the consent does not include publishing.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	code = strings.TrimSuffix(code, "#_") // The network appends #_ to redirect URIs.
	if a.Kind == kindFacebook {
		return n.exchangeFacebook(ctx, a, code)
	}
	shortLived, err := n.Client.RequestToken(ctx, http.MethodPost, n.opts.TokenHost, "oauth/access_token", url.Values{
		"client_id": {n.opts.ClientID}, "client_secret": {n.opts.ClientSecret},
		"code": {code}, "grant_type": {"authorization_code"}, "redirect_uri": {a.Redirect},
	})
	if err != nil {
		return nil, err
	}
	scopes := n.opts.Scopes
	if len(shortLived.Permissions) > 0 {
		scopes = shortLived.Permissions
	}
	if err := network.RequireScopes(scopes, scopeInstagramPublish); err != nil {
		return nil, err
	}
	longLived, err := n.Client.RequestToken(ctx, http.MethodGet, n.opts.GraphHost, "access_token", url.Values{
		"grant_type": {"ig_exchange_token"}, "client_secret": {n.opts.ClientSecret},
		"access_token": {shortLived.AccessToken},
	})
	if err != nil {
		return nil, err
	}
	g := network.Grant{Server: n.opts.GraphHost, Kind: kindInstagram, Scopes: scopes}
	return n.candidates(ctx, graph.ApplyToken(g, longLived.Token, n.opts.Now()))
}

// holderPrefix is the prefix of Grant.Holder. The person's app-specific ID follows.
const holderPrefix = "instagram:"

// candidates returns the account that the grant's token belongs to, with the grant.
func (n *Network) candidates(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	var me struct {
		graph.InstagramAccount

		// the ID to use in calls; the field id seems to be app-specific (unconfirmed)
		UserID string `json:"user_id"`
	}
	err := n.Client.Do(ctx, n.NewCall(g, http.MethodGet, "me", url.Values{"fields": {"id,user_id,username,name"}}, &me))
	if err != nil {
		return nil, err
	}
	if graph.IsID(me.ID) {
		g.Holder = holderPrefix + me.ID
	}
	if me.UserID != "" {
		me.ID = me.UserID
	}
	found, ok := newCandidate(g, me.InstagramAccount)
	if !ok {
		return nil, network.InvalidResponse(errors.New("reading the account: the response has no id or name"))
	}
	return []network.Candidate{found}, nil
}

// newCandidate returns an account with its grant. It reports false if the account's ID or username is missing.
func newCandidate(g network.Grant, p graph.InstagramAccount) (network.Candidate, bool) {
	g.Account, g.Username = p.ID, network.Clip(p.Username, maxName)
	return network.Candidate{Grant: g, DisplayName: network.Clip(p.Name, maxName)}, graph.IsID(p.ID) && p.Username != ""
}

// Refresh exchanges the token for a new token that lasts sixty days. A token less than a day old is returned unchanged,
// because Instagram does not renew it. The error is of class ReconnectRequired if the token has expired. Refresh also
// sets a missing Holder.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	refreshed, err := n.renew(ctx, g)
	if err == nil && refreshed.Holder == "" {
		refreshed.Holder = n.holder(ctx, refreshed)
	}
	return refreshed, err
}

// holder returns the holder of a grant, or "" if the call fails. The refresh then still succeeds, and the next refresh
// requests the holder again.
func (n *Network) holder(ctx context.Context, g network.Grant) string {
	if g.Kind == kindFacebook {
		g.AccessToken = g.Extra[userTokenKey]
		who, err := n.login().Holder(ctx, g)
		if err != nil {
			return ""
		}
		return who
	}
	var me struct {
		ID string `json:"id"`
	}
	err := n.Client.Do(ctx, n.NewCall(g, http.MethodGet, "me", url.Values{"fields": {"id"}}, &me))
	if err != nil || !graph.IsID(me.ID) {
		return ""
	}
	return holderPrefix + me.ID
}

func (n *Network) renew(ctx context.Context, g network.Grant) (network.Grant, error) {
	if graph.IsTooRecent(g, n.opts.Now()) {
		return g, nil
	}
	if g.Kind == kindFacebook {
		return n.refreshFacebook(ctx, g)
	}
	token, err := n.Client.RequestToken(ctx, http.MethodGet, g.Server, "refresh_access_token", url.Values{
		"grant_type": {"ig_refresh_token"}, "access_token": {g.AccessToken},
	})
	if err != nil {
		return network.Grant{}, err
	}
	return graph.ApplyToken(g, token.Token, n.opts.Now()), nil
}
