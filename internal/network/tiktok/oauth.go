package tiktok

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxName = 200 // characters kept of an account's name and of a failure's reason
	maxID   = 200 // characters kept of an account's ID and of a publish_id
)

// Kinds returns the sign-in methods for which an app is configured.
func (n *Network) Kinds() []string {
	kinds := []string{}
	if n.opts.ClientID != "" {
		kinds = append(kinds, "")
	}
	if n.opts.Business.ClientID != "" {
		kinds = append(kinds, Business)
	}
	return kinds
}

// appFor returns the app for a kind of account.
func (n *Network) appFor(kind string) network.OAuthApp {
	if kind == Business {
		return n.opts.Business
	}
	return network.OAuthApp{ClientID: n.opts.ClientID, ClientSecret: n.opts.ClientSecret, Scopes: n.opts.Scopes}
}

// Authorize returns the URL of the consent page. The network supports PKCE only for mobile and desktop apps.
func (n *Network) Authorize(a network.Authorization) string {
	app := n.appFor(a.Kind)
	return n.opts.AuthorizeHost + "/" + n.opts.Version + "/auth/authorize/?" + url.Values{
		"client_key":    {app.ClientID},
		"redirect_uri":  {a.Redirect},
		"response_type": {"code"},
		"scope":         {strings.Join(app.Scopes, ",")},
		"state":         {a.State},
	}.Encode()
}

// Exchange exchanges the code for tokens and returns the account that they belong to. The error is of class
// ReconnectRequired if the code is rejected or the consent has neither video.publish nor video.upload. People can
// deselect scopes on the consent page. Source: https://developers.tiktok.com/doc/oauth-user-access-token-management.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	app := n.appFor(a.Kind)
	t, err := n.requestToken(ctx, n.opts.APIHost, url.Values{
		"client_key": {app.ClientID}, "client_secret": {app.ClientSecret},
		"code": {code}, "grant_type": {"authorization_code"}, "redirect_uri": {a.Redirect},
	})
	if err != nil {
		return nil, err
	}
	scopes := app.Scopes
	if t.Scope != "" {
		scopes = strings.Split(t.Scope, ",")
	}
	if !slices.Contains(scopes, scopeVideoUpload) {
		if err := network.RequireScopes(scopes, scopeVideoPublish); err != nil {
			return nil, err
		}
	}
	return n.identify(ctx, t.Grant(network.Grant{Server: n.opts.APIHost, Kind: a.Kind, Scopes: scopes}, n.opts.Now()))
}

// identify returns the grant with the account that its tokens belong to.
func (n *Network) identify(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	var response struct {
		User struct {
			ID       string `json:"open_id"`
			Username string `json:"username"`
			Name     string `json:"display_name"`
		} `json:"user"`
	}
	call := network.Call{Method: http.MethodGet, Query: url.Values{"fields": {"open_id,username,display_name"}}}
	if err := n.callAPI(ctx, g, call, "user/info/", &response); err != nil {
		return nil, err
	}
	if response.User.ID == "" || len(response.User.ID) > maxID || response.User.Username == "" {
		return nil, network.InvalidResponse(errors.New("reading the account: the response lacks the id or the name"))
	}
	g.Account, g.Username, g.Holder = response.User.ID, network.Clip(response.User.Username, maxName), holderPrefix+response.User.ID
	return []network.Candidate{{Grant: g, DisplayName: network.Clip(response.User.Name, maxName)}}, nil
}

// Refresh exchanges the refresh token for a new access token and a new refresh token. The old refresh token becomes
// invalid.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	app := n.appFor(g.Kind)
	t, err := n.requestToken(ctx, g.Server, url.Values{
		"client_key": {app.ClientID}, "client_secret": {app.ClientSecret},
		"grant_type": {"refresh_token"}, "refresh_token": {g.RefreshToken},
	})
	if err != nil {
		return network.Grant{}, err
	}
	g.Holder = holderPrefix + g.Account // for grants that were stored without a holder
	return t.Grant(g, n.opts.Now()), nil
}

// requestToken requests a token.
func (n *Network) requestToken(ctx context.Context, server string, form url.Values) (network.Token, error) {
	response, err := n.callOAuth(ctx, server, "oauth/token/", form)
	if err != nil {
		return network.Token{}, err
	}
	var t network.Token
	if err := response.Decode(&t); err != nil {
		return network.Token{}, err
	}
	if t.AccessToken == "" {
		return network.Token{}, network.InvalidResponse(errors.New("requesting a token: the response has no token"))
	}
	return t, nil
}

// callOAuth calls a token endpoint. Its error responses differ in format from errors of the API, and may have status
// 200.
func (n *Network) callOAuth(ctx context.Context, server, path string, form url.Values) (network.Response, error) {
	response, err := n.client.Do(ctx, network.Call{
		Purpose: network.PurposeAuthorize, Name: path, Method: http.MethodPost,
		URL:     strings.TrimRight(server, "/") + "/" + n.opts.Version + "/" + path,
		Form:    form,
		Secrets: []string{form.Get("client_secret"), form.Get("code"), form.Get("refresh_token"), form.Get("token")},
	})
	if err != nil {
		return response, err
	}
	var body struct {
		Code string `json:"error"`
		Text string `json:"error_description"`
	}
	_ = json.Unmarshal(response.Body, &body) // a response from a proxy has no code
	if response.Status == http.StatusOK && body.Code == "" {
		return response, nil
	}
	class, known := classByOAuthError[body.Code]
	if !known {
		class = network.Transient
	}
	if response.Status == http.StatusTooManyRequests {
		class = network.RateLimited
	}
	return response, n.withRetryTime(response, response.Rejection(class, body.Code, body.Text))
}
