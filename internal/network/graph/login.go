package graph

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pressroom/internal/network"
)

const (
	maxName   = 200 // characters kept of what the network calls something
	pagesEach = "100"
	mostLists = 20 // lists of Pages that are read
)

// Login is the way in through Facebook Login, which ends at the Pages of a person.
type Login struct {
	Client       *Client
	ClientID     string
	ClientSecret string
	Version      string // of the API
}

// Redeem trades a code for a person's token of an hour or two.
func (l Login) Redeem(ctx context.Context, server, redirect, code string) (Token, error) {
	return l.sign(ctx, server, url.Values{"redirect_uri": {redirect}, "code": {code}})
}

// Lengthen trades a person's token for one of sixty days.
func (l Login) Lengthen(ctx context.Context, server, token string) (Token, error) {
	return l.sign(ctx, server, url.Values{"grant_type": {"fb_exchange_token"}, "fb_exchange_token": {token}})
}

func (l Login) sign(ctx context.Context, server string, params url.Values) (Token, error) {
	params.Set("client_id", l.ClientID)
	params.Set("client_secret", l.ClientSecret)
	return l.Client.Sign(ctx, http.MethodGet, server, l.Version+"/oauth/access_token", params)
}

func (l Login) read(ctx context.Context, person network.Grant, path string, params url.Values, out any) error {
	return l.Client.Do(ctx,
		Call{
			Method: http.MethodGet, Server: person.Server, Path: l.Version + "/" + path, Token: person.Access,
			Params: params, Out: out,
		})
}

// Permissions are what a person allowed. People may take single ones back on the consent page.
func (l Login) Permissions(ctx context.Context, person network.Grant) ([]string, error) {
	var answer struct {
		Data []struct {
			Permission string `json:"permission"`
			Status     string `json:"status"`
		} `json:"data"`
	}
	if err := l.read(ctx, person, "me/permissions", nil, &answer); err != nil {
		return nil, err
	}
	var granted []string
	for _, p := range answer.Data {
		if p.Status == "granted" {
			granted = append(granted, network.Clip(p.Permission, maxName))
		}
	}
	return granted, nil
}

// holder is how a person is named as the holder of grants.
const holder = "facebook:"

// Holder asks whose token it is. The id is one for the app alone.
func (l Login) Holder(ctx context.Context, person network.Grant) (string, error) {
	var me struct {
		ID string `json:"id"`
	}
	if err := l.read(ctx, person, "me", url.Values{"fields": {"id"}}, &me); err != nil || !IsID(me.ID) {
		return "", err
	}
	return holder + me.ID, nil
}

// TakeBack takes all that a person allowed to the app from it, at every Page and account, by a token of that person.
func (l Login) TakeBack(ctx context.Context, server, who, token string) error {
	id, known := strings.CutPrefix(who, holder)
	if !known || token == "" {
		return network.ErrNoMeans // it would be somebody else's too
	}
	var answer struct {
		Success bool `json:"success"`
	}
	err := l.Client.Do(ctx,
		Call{
			Method: http.MethodDelete, Server: server, Path: l.Version + "/" + id + "/permissions", Token: token,
			Out: &answer,
		})
	if err == nil && !answer.Success {
		err = network.Unreadable(errors.New("taking permissions back: the network does not say that it did"))
	}
	return err
}

// Page is a Page as the network lists it for a person. Its texts are untrusted.
type Page struct {
	ID        string       `json:"id"`
	Name      string       `json:"name"`
	Username  string       `json:"username"`
	Access    string       `json:"access_token"`
	Tasks     []string     `json:"tasks"` // what the person may do there
	Instagram Professional `json:"instagram_business_account"`
}

// Professional is the account on Instagram that belongs to a Page.
type Professional struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	Name     string `json:"name"`
}

// Pages are those that a person chose, with the fields that are asked for, among them the token; without the ones that
// cannot be called.
func (l Login) Pages(ctx context.Context, person network.Grant, fields string) ([]Page, error) {
	params := url.Values{"fields": {fields}, "limit": {pagesEach}}
	var found []Page
	for range mostLists {
		var answer struct {
			Data   []Page `json:"data"`
			Paging struct {
				Next    string `json:"next"`
				Cursors struct {
					After string `json:"after"`
				} `json:"cursors"`
			} `json:"paging"`
		}
		if err := l.read(ctx, person, "me/accounts", params, &answer); err != nil {
			return nil, err
		}
		for _, p := range answer.Data {
			if IsID(p.ID) && p.Access != "" {
				found = append(found, p)
			}
		}
		if answer.Paging.Next == "" || answer.Paging.Cursors.After == "" {
			break
		}
		params.Set("after", answer.Paging.Cursors.After)
	}
	return found, nil
}

// Page reads one Page for a person.
func (l Login) Page(ctx context.Context, person network.Grant, id, fields string) (Page, error) {
	var answer Page
	err := l.read(ctx, person, id, url.Values{"fields": {fields}}, &answer)
	return answer, err
}
