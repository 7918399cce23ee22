package graph

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const maxName = 200 // characters kept of a name

// Login is Facebook Login, which gives access to a person's Pages.
//
// Source: https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow
type Login struct {
	Client       *Client
	ClientID     string
	ClientSecret string
	Version      string // API version
	// time limit for reading the lists of all portfolios; if 0, defaultPortfolioTimeout applies
	PortfolioTimeout time.Duration
}

// SetConfig replaces the scopes in params with a configuration of Facebook Login for Business, which determines the
// permissions. It does nothing if id is empty.
//
// Source: https://developers.facebook.com/docs/facebook-login/facebook-login-for-business
func SetConfig(params url.Values, id string) {
	if id != "" {
		params.Set("config_id", id)
		params.Del("scope")
	}
}

// ExchangeCode exchanges a code for a person's token. The token lasts one or two hours.
func (l Login) ExchangeCode(ctx context.Context, server, redirect, code string) (Token, error) {
	return l.requestToken(ctx, server, url.Values{"redirect_uri": {redirect}, "code": {code}})
}

// ExtendToken exchanges a person's token for a token that lasts sixty days.
func (l Login) ExtendToken(ctx context.Context, server, token string) (Token, error) {
	return l.requestToken(ctx, server, url.Values{"grant_type": {"fb_exchange_token"}, "fb_exchange_token": {token}})
}

func (l Login) requestToken(ctx context.Context, server string, params url.Values) (Token, error) {
	params.Set("client_id", l.ClientID)
	params.Set("client_secret", l.ClientSecret)
	return l.Client.RequestToken(ctx, http.MethodGet, server, l.Version+"/oauth/access_token", params)
}

func (l Login) get(ctx context.Context, person network.Grant, path string, params url.Values, out any) error {
	return l.Client.Do(ctx, Call{
		Method: http.MethodGet, Server: person.Server, Path: l.Version + "/" + path, Token: person.AccessToken,
		Secret: l.ClientSecret, Params: params, Out: out,
	})
}

// Permissions returns the permissions that a person granted. People can decline individual permissions on the consent
// page.
func (l Login) Permissions(ctx context.Context, person network.Grant) ([]string, error) {
	var response struct {
		Data []struct {
			Permission string `json:"permission"`
			Status     string `json:"status"`
		} `json:"data"`
	}
	if err := l.get(ctx, person, "me/permissions", nil, &response); err != nil {
		return nil, err
	}
	var granted []string
	for _, p := range response.Data {
		if p.Status == "granted" {
			granted = append(granted, network.Clip(p.Permission, maxName))
		}
	}
	return granted, nil
}

// holderPrefix is the prefix of Grant.Holder. The person's ID follows.
const holderPrefix = "facebook:"

// Holder returns the holder of the person's grants. The person's ID in it is specific to the app.
func (l Login) Holder(ctx context.Context, person network.Grant) (string, error) {
	var me struct {
		ID string `json:"id"`
	}
	if err := l.get(ctx, person, "me", url.Values{"fields": {"id"}}, &me); err != nil || !IsID(me.ID) {
		return "", err
	}
	return holderPrefix + me.ID, nil
}

// RevokePermissions revokes all permissions that a person granted to the app, for all Pages and accounts.
func (l Login) RevokePermissions(ctx context.Context, server, holder, token string) error {
	id, known := strings.CutPrefix(holder, holderPrefix)
	if !known || token == "" {
		return network.ErrRevokeUnsupported // Revoking would also end grants that are still in use.
	}
	var response struct {
		Success bool `json:"success"`
	}
	err := l.Client.Do(ctx, Call{
		Method: http.MethodDelete, Server: server, Path: l.Version + "/" + id + "/permissions", Token: token,
		Secret: l.ClientSecret, Out: &response,
	})
	if err == nil && !response.Success {
		err = network.InvalidResponse(errors.New("revoking permissions: the response does not confirm the revocation"))
	}
	return err
}
