package graph

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"strings"
	"time"

	"pressroom/internal/network"
)

// IssuedAt stands in a grant's Extra, for when its token was made, in RFC 3339.
const IssuedAt = "issued_at"

const tooYoung = 24 * time.Hour // a token's age before which the networks do not renew it

// Token is what the token endpoints give out.
type Token struct {
	network.Token

	Permissions Permissions `json:"permissions"` // what the person allowed, where it is told here
}

// Permissions are written as a list, or as one text with commas.
type Permissions []string

// UnmarshalJSON reads either form; of any other nothing is known.
func (p *Permissions) UnmarshalJSON(text []byte) error {
	var list []string
	var line string
	if json.Unmarshal(text, &list) != nil && json.Unmarshal(text, &line) == nil && line != "" {
		list = strings.Split(line, ",")
	}
	*p = list
	return nil
}

// Sign makes a call that gives out a token. Instagram's documentation wraps one of its answers in a list.
func (c *Client) Sign(ctx context.Context, method, server, path string, params url.Values) (Token, error) {
	var answer struct {
		Token

		Data []Token `json:"data"`
	}
	err := c.Do(ctx, Call{
		Purpose: network.Signing, Method: method, Server: server, Path: path, Params: params, Out: &answer,
		Secrets: []string{
			params.Get("client_secret"), params.Get("code"), params.Get("access_token"),
			params.Get("fb_exchange_token"),
		},
	})
	if err != nil {
		return Token{}, err
	}
	if len(answer.Data) > 0 {
		answer.Token = answer.Data[0]
	}
	if answer.Access == "" {
		return Token{}, network.Unreadable(errors.New("asking for a token: the answer has none"))
	}
	return answer.Token, nil
}

// Issued is g with a new token, and the time that it was made.
func Issued(g network.Grant, t network.Token, now time.Time) network.Grant {
	g = t.Grant(g, now)
	g.Extra = maps.Clone(g.Extra) // the old grant stays as it is
	if g.Extra == nil {
		g.Extra = map[string]string{}
	}
	g.Extra[IssuedAt] = now.UTC().Format(time.RFC3339)
	return g
}

// TooYoung tells whether the network would not renew the grant yet.
func TooYoung(g network.Grant, now time.Time) bool {
	issued, err := time.Parse(time.RFC3339, g.Extra[IssuedAt])
	return err == nil && now.Sub(issued) < tooYoung
}
