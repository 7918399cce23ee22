package graph

import (
	"context"
	"net/url"
	"slices"

	"pressroom.example/pressroom/internal/network"
)

// ScopeBusiness is the permission to list the Pages of business portfolios.
const ScopeBusiness = "business_management"

const (
	pagesPerList  = "100"
	maxPageLists  = 20 // lists of Pages to read
	maxBusinesses = 50 // per person; each costs two calls
)

// Page is a Page in the network's list for a person. Its texts are untrusted.
type Page struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Username string `json:"username"`
	Access   string `json:"access_token"`
	// the person's permissions on the Page; nil if the network does not list them
	Tasks     []string         `json:"tasks"`
	Instagram InstagramAccount `json:"instagram_business_account"`
}

// InstagramAccount is the Instagram account that belongs to a Page.
type InstagramAccount struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	Name     string `json:"name"`
}

// Pages returns the Pages that a person selected, with the given fields, which must include the token. If the person
// granted ScopeBusiness, the result includes the Pages of their business portfolios, which may be missing in the
// person's own list. Pages without a token are omitted.
//
// The edges of portfolios are not in Meta's API description. They are undocumented, but widely used.
func (l Login) Pages(ctx context.Context, person network.Grant, fields string) ([]Page, error) {
	found, err := l.OwnPages(ctx, person, fields)
	if err != nil || !slices.Contains(person.Scopes, ScopeBusiness) {
		return found, err
	}
	businesses, err := readList[Created](ctx, l, person, "me/businesses", "id")
	if err != nil && !isRefusal(err) {
		return nil, err
	}
	for _, b := range businesses[:min(len(businesses), maxBusinesses)] {
		if !IsID(b.ID) {
			continue
		}
		for _, edge := range []string{"owned_pages", "client_pages"} {
			pages, err := readList[Page](ctx, l, person, b.ID+"/"+edge, fields)
			if err != nil && !isRefusal(err) {
				return nil, err
			}
			found = appendNew(found, pages)
		}
	}
	return found, nil
}

// OwnPages returns the Pages in the person's own list, with the given fields and the person's tasks.
func (l Login) OwnPages(ctx context.Context, person network.Grant, fields string) ([]Page, error) {
	pages, err := readList[Page](ctx, l, person, "me/accounts", fields+",tasks")
	return slices.DeleteFunc(pages, Page.isUnusable), err
}

func (p Page) isUnusable() bool { return !IsID(p.ID) || p.Access == "" }

// appendNew adds the usable Pages that were not found before.
func appendNew(found, pages []Page) []Page {
	for _, p := range pages {
		if !p.isUnusable() && !slices.ContainsFunc(found, func(f Page) bool { return f.ID == p.ID }) {
			found = append(found, p)
		}
	}
	return found
}

// readList reads all pages of a list.
func readList[T any](ctx context.Context, l Login, person network.Grant, path, fields string) ([]T, error) {
	params := url.Values{"fields": {fields}, "limit": {pagesPerList}}
	var found []T
	for range maxPageLists {
		var response listPage[T]
		if err := l.get(ctx, person, path, params, &response); err != nil {
			return found, err
		}
		found = append(found, response.Data...)
		if response.Paging.Next == "" || response.Paging.Cursors.After == "" {
			break
		}
		params.Set("after", response.Paging.Cursors.After)
	}
	return found, nil
}

// Page returns one Page of a person.
func (l Login) Page(ctx context.Context, person network.Grant, id, fields string) (Page, error) {
	var response Page
	err := l.get(ctx, person, id, url.Values{"fields": {fields}}, &response)
	return response, err
}
