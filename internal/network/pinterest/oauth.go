package pinterest

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxName       = 200   // characters kept of an account's or board's name
	maxBoards     = 200   // maximum boards offered
	boardsPerPage = "100" // boards per page; the limit is 250
)

// Kinds returns only "", because there is only one sign-in method.
func (n *Network) Kinds() []string { return []string{""} }

// Authorize returns the URL of the consent page. The network does not support PKCE.
func (n *Network) Authorize(a network.Authorization) string {
	return n.opts.AuthorizeHost + "/oauth/?" + url.Values{
		"client_id":     {n.opts.ClientID},
		"redirect_uri":  {a.Redirect},
		"response_type": {"code"},
		"scope":         {strings.Join(n.opts.Scopes, ",")},
		"state":         {a.State},
	}.Encode()
}

// Exchange exchanges the code for tokens and returns a candidate for each of the account's boards, at most 200. The
// error is of class ReconnectRequired if the code is rejected.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	token, err := n.requestToken(ctx, n.opts.APIHost, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.Redirect},
		"continuous_refresh": {"true"}, // apps created before September 2025 need it to renew refresh tokens
	}, code)
	if err != nil {
		return nil, err
	}
	g := token.Grant(network.Grant{Server: n.opts.APIHost, Scopes: n.opts.Scopes}, n.opts.Now())
	if allowed := strings.FieldsFunc(token.Scope, func(r rune) bool { return r == ' ' || r == ',' }); len(allowed) > 0 {
		g.Scopes = allowed
		if err := network.RequireScopes(allowed, scopeWritePins); err != nil {
			return nil, err
		}
	}
	return n.listBoards(ctx, g)
}

// listBoards returns a candidate for each of the account's boards.
func (n *Network) listBoards(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	var me struct {
		ID       string `json:"id"`
		Username string `json:"username"`
		Business string `json:"business_name"`
	}
	if err := n.do(ctx, n.newCall(g, http.MethodGet, "user_account"), &me); err != nil {
		return nil, err
	}
	if !isID(me.ID) || me.Username == "" {
		return nil, network.InvalidResponse(errors.New("reading the account: the response lacks the id or the name"))
	}
	var candidates []network.Candidate
	for bookmark := ""; ; {
		var page struct {
			Items    []namedBoard `json:"items"`
			Bookmark string       `json:"bookmark"`
		}
		c := n.newCall(g, http.MethodGet, "boards")
		c.Query = pageQuery(boardsPerPage, bookmark)
		if err := n.do(ctx, c, &page); err != nil {
			return nil, err
		}
		for _, b := range page.Items {
			if isID(b.ID) && len(candidates) < maxBoards {
				candidates = append(candidates, b.candidate(g, me.ID, me.Username, me.Business))
			}
		}
		if page.Bookmark == "" || page.Bookmark == bookmark || len(page.Items) == 0 || len(candidates) == maxBoards {
			return candidates, nil
		}
		bookmark = page.Bookmark
	}
}

func pageQuery(size, bookmark string) url.Values {
	query := url.Values{"page_size": {size}}
	if bookmark != "" {
		query.Set("bookmark", bookmark)
	}
	return query
}

// namedBoard is a board in a list.
type namedBoard struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (b namedBoard) candidate(g network.Grant, account, username, business string) network.Candidate {
	g.Account = account + "/" + b.ID
	g.Username = network.Clip(username+"/"+b.Name, maxName)
	g.Extra = map[string]string{boardKey: b.ID}
	name := b.Name
	if business != "" {
		name = business + ": " + b.Name
	}
	return network.Candidate{Grant: g, DisplayName: network.Clip(name, maxName)}
}

// Refresh exchanges the refresh token for new tokens, including a new refresh token.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	if g.RefreshToken == "" {
		return network.Grant{}, &network.Error{
			Class: network.ReconnectRequired,
			Err:   errors.New("the grant has no refresh token; connect the account again"),
		}
	}
	token, err := n.requestToken(ctx, g.Server, url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {g.RefreshToken}, "continuous_refresh": {"true"},
	}, g.RefreshToken)
	if err != nil {
		return network.Grant{}, err
	}
	return token.Grant(g, n.opts.Now()), nil
}

// requestToken requests tokens. The app authenticates with HTTP Basic authentication.
func (n *Network) requestToken(
	ctx context.Context, server string, form url.Values, secret string,
) (network.Token, error) {
	c := n.newCall(network.Grant{Server: server}, http.MethodPost, "oauth/token")
	c.Purpose, c.Form, c.Secrets = network.PurposeAuthorize, form, []string{secret, n.opts.ClientSecret}
	pair := base64.StdEncoding.EncodeToString([]byte(n.opts.ClientID + ":" + n.opts.ClientSecret))
	c.Header = http.Header{"Authorization": {"Basic " + pair}}
	var token network.Token
	if err := n.do(ctx, c, &token); err != nil {
		return network.Token{}, err
	}
	if token.AccessToken == "" {
		return network.Token{}, network.InvalidResponse(errors.New("requesting a token: the response has no token"))
	}
	return token, nil
}
