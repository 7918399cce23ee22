package x

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

const maxName = 200 // characters kept of an account's name

// Kinds returns only "", because there is only one sign-in method.
func (n *Network) Kinds() []string { return []string{""} }

// Authorize returns the URL of the consent page. The network requires PKCE.
func (n *Network) Authorize(a network.Authorization) string {
	sum := sha256.Sum256([]byte(a.Verifier))
	return n.opts.AuthorizeHost + "/i/oauth2/authorize?" + url.Values{
		"client_id":             {n.opts.ClientID},
		"redirect_uri":          {a.Redirect},
		"response_type":         {"code"},
		"scope":                 {strings.Join(n.opts.Scopes, " ")},
		"state":                 {a.State},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(sum[:])},
		"code_challenge_method": {"S256"},
	}.Encode()
}

// Exchange exchanges the code, which expires after 30 seconds, for tokens. It returns the account of the tokens. The
// error is of class ReconnectRequired if the code is rejected.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	token, err := n.requestToken(ctx, n.opts.APIHost, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.Redirect},
		"code_verifier": {a.Verifier},
	}, code, a.Verifier)
	if err != nil {
		return nil, err
	}
	g := token.Grant(network.Grant{Server: n.opts.APIHost, Scopes: n.opts.Scopes}, n.opts.Now())
	if allowed := strings.Fields(token.Scope); len(allowed) > 0 {
		g.Scopes = allowed
		if err := network.RequireScopes(allowed, scopeWrite); err != nil {
			return nil, err
		}
	}
	return n.identify(ctx, g)
}

// identify returns the grant with the account that its tokens belong to.
func (n *Network) identify(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	var me struct {
		Data struct {
			ID       string `json:"id"`
			Username string `json:"username"`
			Name     string `json:"name"`
		} `json:"data"`
	}
	if err := n.do(ctx, n.newCall(g, http.MethodGet, "users/me"), &me); err != nil {
		return nil, err
	}
	if !isID(me.Data.ID) || me.Data.Username == "" {
		return nil, network.InvalidResponse(errors.New("reading the account: the response lacks the id or the name"))
	}
	g.Account, g.Username = me.Data.ID, network.Clip(me.Data.Username, maxName)
	return []network.Candidate{{Grant: g, DisplayName: network.Clip(me.Data.Name, maxName)}}, nil
}

// Refresh exchanges the refresh token for new tokens. The old refresh token becomes invalid.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	if g.RefreshToken == "" {
		return network.Grant{}, &network.Error{
			Class: network.ReconnectRequired,
			Err:   errors.New("the grant has no refresh token; connect the account again"),
		}
	}
	token, err := n.requestToken(ctx, g.Server, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.RefreshToken}},
		g.RefreshToken)
	if err != nil {
		return network.Grant{}, err
	}
	return token.Grant(g, n.opts.Now()), nil
}

// basicAuth returns the header with which an app with a secret authenticates (RFC 6749, section 2.3.1).
func (n *Network) basicAuth() http.Header {
	if n.opts.ClientSecret == "" {
		return nil
	}
	pair := url.QueryEscape(n.opts.ClientID) + ":" + url.QueryEscape(n.opts.ClientSecret)
	return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(pair))}}
}

// requestToken requests tokens.
func (n *Network) requestToken(
	ctx context.Context, server string, form url.Values, secrets ...string,
) (network.Token, error) {
	form.Set("client_id", n.opts.ClientID)
	c := n.newCall(network.Grant{Server: server}, http.MethodPost, "oauth2/token")
	c.Purpose, c.Form, c.Secrets = network.PurposeAuthorize, form, append([]string{n.opts.ClientSecret}, secrets...)
	c.Header = n.basicAuth()
	var token network.Token
	if err := n.do(ctx, c, &token); err != nil {
		return network.Token{}, err
	}
	if token.AccessToken == "" {
		return network.Token{}, network.InvalidResponse(errors.New("requesting a token: the response has no token"))
	}
	return token, nil
}
