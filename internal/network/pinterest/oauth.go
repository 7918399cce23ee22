package pinterest

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pressroom/internal/network"
)

const (
	maxName   = 200   // characters kept of what an account or a board calls itself
	maxBoards = 200   // that are offered
	boardPage = "100" // boards of a page; there may be 250
)

// Kinds names the one way of signing in.
func (n *Network) Kinds() []string { return []string{""} }

// Authorize is the address of the consent page. The network takes no PKCE.
func (n *Network) Authorize(a network.Authorization) string {
	return n.opts.AuthorizeHost + "/oauth/?" + url.Values{
		"client_id":     {n.opts.ClientID},
		"redirect_uri":  {a.Redirect},
		"response_type": {"code"},
		"scope":         {strings.Join(n.opts.Scopes, ",")},
		"state":         {a.State},
	}.Encode()
}

// Exchange trades the code for tokens and reads whose they are: a candidate for each board, at most 200. A code that
// the network does not take is AuthDead.
func (n *Network) Exchange(ctx context.Context, a network.Authorization, code string) ([]network.Candidate, error) {
	token, err := n.sign(ctx, n.opts.APIHost, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.Redirect},
		"continuous_refresh": {"true"}, // else apps of before September 2025 get refresh tokens that cannot be renewed
	}, code)
	if err != nil {
		return nil, err
	}
	g := token.Grant(network.Grant{Server: n.opts.APIHost, Scopes: n.opts.Scopes}, n.opts.Now())
	if allowed := strings.FieldsFunc(token.Scope, func(r rune) bool { return r == ' ' || r == ',' }); len(allowed) > 0 {
		g.Scopes = allowed
	}
	return n.boards(ctx, g)
}

// boards completes a grant by the account and by each of its boards.
func (n *Network) boards(ctx context.Context, g network.Grant) ([]network.Candidate, error) {
	var me struct {
		ID       string `json:"id"`
		Username string `json:"username"`
		Business string `json:"business_name"`
	}
	if err := n.do(ctx, n.on(g, http.MethodGet, "user_account"), &me); err != nil {
		return nil, err
	}
	if !isID(me.ID) || me.Username == "" {
		return nil, network.Unreadable(errors.New("reading the account: the answer lacks its id or its name"))
	}
	var found []network.Candidate
	for bookmark := ""; ; {
		var page struct {
			Items    []namedBoard `json:"items"`
			Bookmark string       `json:"bookmark"`
		}
		c := n.on(g, http.MethodGet, "boards")
		c.Query = paged(boardPage, bookmark)
		if err := n.do(ctx, c, &page); err != nil {
			return nil, err
		}
		for _, b := range page.Items {
			if isID(b.ID) && len(found) < maxBoards {
				found = append(found, b.candidate(g, me.ID, me.Username, me.Business))
			}
		}
		if page.Bookmark == "" || page.Bookmark == bookmark || len(page.Items) == 0 || len(found) == maxBoards {
			return found, nil
		}
		bookmark = page.Bookmark
	}
}

func paged(size, bookmark string) url.Values {
	query := url.Values{"page_size": {size}}
	if bookmark != "" {
		query.Set("bookmark", bookmark)
	}
	return query
}

// namedBoard is a board as the network lists it.
type namedBoard struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (b namedBoard) candidate(g network.Grant, account, username, business string) network.Candidate {
	g.Account = account + "/" + b.ID
	g.Username = network.Clip(username+"/"+b.Name, maxName)
	g.Extra = map[string]string{boardOf: b.ID}
	shown := b.Name
	if business != "" {
		shown = business + ": " + b.Name
	}
	return network.Candidate{Grant: g, DisplayName: network.Clip(shown, maxName)}
}

// Refresh trades the refresh token for new tokens, the refresh token's successor among them.
func (n *Network) Refresh(ctx context.Context, g network.Grant) (network.Grant, error) {
	if g.Refresh == "" {
		return network.Grant{}, &network.Error{
			Class: network.AuthDead, Err: errors.New("the grant has no refresh token"),
		}
	}
	token, err := n.sign(ctx, g.Server, url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}, "continuous_refresh": {"true"},
	}, g.Refresh)
	if err != nil {
		return network.Grant{}, err
	}
	return token.Grant(g, n.opts.Now()), nil
}

// sign makes a call that gives out tokens, for an app that shows its secret by Basic authentication.
func (n *Network) sign(ctx context.Context, server string, form url.Values, secret string) (network.Token, error) {
	c := n.on(network.Grant{Server: server}, http.MethodPost, "oauth/token")
	c.Purpose, c.Form, c.Secrets = network.Signing, form, []string{secret, n.opts.ClientSecret}
	pair := base64.StdEncoding.EncodeToString([]byte(n.opts.ClientID + ":" + n.opts.ClientSecret))
	c.Header = http.Header{"Authorization": {"Basic " + pair}}
	var token network.Token
	if err := n.do(ctx, c, &token); err != nil {
		return network.Token{}, err
	}
	if token.Access == "" {
		return network.Token{}, network.Unreadable(errors.New("asking for a token: the answer has none"))
	}
	return token, nil
}
