package graph

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// IssuedAtKey is the key in Grant.Extra for the time when the token was issued, in the format of RFC 3339.
const IssuedAtKey = "issued_at"

const minRenewalAge = 24 * time.Hour // the networks renew only tokens that are at least this old

// Token is the response from a token endpoint.
type Token struct {
	network.Token

	Permissions Permissions `json:"permissions"` // permissions that the person granted; empty if not reported
}

// Permissions is a list of permissions, encoded as an array or as a comma-separated string.
type Permissions []string

// UnmarshalJSON decodes either format. It ignores any other value.
func (p *Permissions) UnmarshalJSON(text []byte) error {
	var list []string
	var line string
	if json.Unmarshal(text, &list) != nil && json.Unmarshal(text, &line) == nil && line != "" {
		list = strings.Split(line, ",")
	}
	*p = list
	return nil
}

// RequestToken makes a call that returns a token. The response may be wrapped in a list, as in Instagram's
// documentation.
func (c *Client) RequestToken(ctx context.Context, method, server, path string, params url.Values) (Token, error) {
	var response struct {
		Token

		Data []Token `json:"data"`
	}
	err := c.Do(ctx, Call{
		Purpose: network.PurposeAuthorize, Method: method, Server: server, Path: path, Params: params, Out: &response,
		Secrets: []string{
			params.Get("client_secret"), params.Get("code"), params.Get("access_token"),
			params.Get("fb_exchange_token"),
		},
	})
	if err != nil {
		return Token{}, err
	}
	if len(response.Data) > 0 {
		response.Token = response.Data[0]
	}
	if response.AccessToken == "" {
		return Token{}, network.InvalidResponse(errors.New("requesting a token: the response has no token"))
	}
	return response.Token, nil
}

// ApplyToken returns g with a new token and the time when it was issued.
func ApplyToken(g network.Grant, t network.Token, now time.Time) network.Grant {
	g = t.Grant(g, now)
	g.Extra = maps.Clone(g.Extra) // The copy keeps the old grant unchanged.
	if g.Extra == nil {
		g.Extra = map[string]string{}
	}
	g.Extra[IssuedAtKey] = now.UTC().Format(time.RFC3339)
	return g
}

// IsTooRecent reports whether the grant's token is so new that the network would not renew it yet.
func IsTooRecent(g network.Grant, now time.Time) bool {
	issued, err := time.Parse(time.RFC3339, g.Extra[IssuedAtKey])
	return err == nil && now.Sub(issued) < minRenewalAge
}
