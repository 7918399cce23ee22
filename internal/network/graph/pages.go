package graph

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// ScopeBusiness is the permission to list the Pages of business portfolios.
const ScopeBusiness = "business_management"

const (
	pagesPerList     = "100"
	maxPageLists     = 20 // maximum pages of a list
	maxBusinesses    = 200
	portfolioReaders = 8                // concurrent requests
	portfolioTime    = 30 * time.Second // for the lists of all portfolios
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

// Pages returns the Pages that a person selected, with the given fields. The fields must include the token. If the
// person granted ScopeBusiness, the result includes the Pages of their business portfolios, because the person's own
// list may lack these Pages. Pages without a token are omitted.
//
// If there may be more Pages than it could read, Pages returns network.ErrMoreAccounts with the Pages that it read. If
// a list failed temporarily, it returns network.ErrUnreadAccounts with the Pages of the other lists.
//
// The edges of portfolios are missing from Meta's API description. They are undocumented, but widely used.
func (l Login) Pages(ctx context.Context, person network.Grant, fields string) ([]Page, error) {
	own := pageList{}
	own.pages, own.more, own.err = l.OwnPages(ctx, person, fields)
	lists := []pageList{own}
	if (own.err == nil || isRetryable(own.err)) && slices.Contains(person.Scopes, ScopeBusiness) {
		lists = append(lists, l.readPortfolios(ctx, person, fields)...)
	}
	found, more := own.pages, false
	var failed error // the first temporary error
	for _, list := range lists {
		found, more = appendNew(found, list.pages), more || list.more
		switch {
		case list.err == nil:
		case isRetryable(list.err) && ctx.Err() == nil:
			if failed == nil {
				failed = list.err
			}
		default:
			return nil, list.err
		}
	}
	if failed != nil && len(found) == 0 {
		return nil, failed
	}
	return found, incompleteListError(failed != nil, more)
}

// incompleteListError returns the error for an incomplete list, or nil. The list is incomplete if some of its Pages
// were not read or if it has more Pages.
func incompleteListError(unread, more bool) error {
	switch {
	case unread:
		return network.ErrUnreadAccounts
	case more:
		return network.ErrMoreAccounts
	}
	return nil
}

// readPortfolios reads the lists of Pages of a person's business portfolios. Lists that the network rejects are empty.
// After the time limit, the remaining lists are marked as incomplete.
func (l Login) readPortfolios(ctx context.Context, person network.Grant, fields string) []pageList {
	timed, cancel := context.WithTimeout(ctx, l.portfolioTime())
	defer cancel()
	businesses, more, err := readList[CreatedObject](timed, l, person, "me/businesses", "id")
	businesses = slices.DeleteFunc(businesses, func(b CreatedObject) bool { return !IsID(b.ID) })
	var edges []string
	for _, b := range businesses[:min(len(businesses), maxBusinesses)] {
		edges = append(edges, b.ID+"/owned_pages", b.ID+"/client_pages")
	}
	lists := l.readEdges(timed, person, edges, fields)
	lists = append(lists, pageList{more: more || len(businesses) > maxBusinesses, err: err})
	for i, list := range lists {
		switch {
		case list.err == nil:
		case isRejection(list.err):
			lists[i].err = nil
		case timed.Err() != nil && ctx.Err() == nil: // portfolioTime is over
			lists[i].err, lists[i].more = nil, true
		}
	}
	return lists
}

// isRetryable reports whether a repeated call may succeed.
func isRetryable(err error) bool {
	netErr, ok := errors.AsType[*network.Error](err)
	return ok && slices.Contains([]network.ErrorClass{
		network.Transient, network.OutcomeUnknown, network.Processing, network.RateLimited, network.QuotaExceeded,
	}, netErr.Class)
}

func (l Login) portfolioTime() time.Duration {
	if l.PortfolioTime > 0 {
		return l.PortfolioTime
	}
	return portfolioTime
}

// pageList is the result of reading a list of Pages.
type pageList struct {
	pages []Page
	more  bool
	err   error
}

// readEdges reads several lists of Pages, portfolioReaders at a time. It returns the lists in the order of the edges.
func (l Login) readEdges(ctx context.Context, person network.Grant, edges []string, fields string) []pageList {
	lists, slots := make([]pageList, len(edges)), make(chan struct{}, portfolioReaders)
	var group sync.WaitGroup
	for i, edge := range edges {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			lists[i].pages, lists[i].more, lists[i].err = readList[Page](ctx, l, person, edge, fields)
		})
	}
	group.Wait()
	return lists
}

// OwnPages returns the Pages in the person's own list, with the given fields and the person's tasks. It also reports
// whether there may be more Pages.
func (l Login) OwnPages(ctx context.Context, person network.Grant, fields string) ([]Page, bool, error) {
	pages, more, err := readList[Page](ctx, l, person, "me/accounts", fields+",tasks")
	return slices.DeleteFunc(pages, Page.isUnusable), more, err
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

// readList reads at most maxPageLists pages of a list. It also reports whether the list may have more items.
func readList[T any](ctx context.Context, l Login, person network.Grant, path, fields string) ([]T, bool, error) {
	params := url.Values{"fields": {fields}, "limit": {pagesPerList}}
	var found []T
	for range maxPageLists {
		var response listPage[T]
		if err := l.get(ctx, person, path, params, &response); err != nil {
			return found, false, err
		}
		found = append(found, response.Data...)
		if response.Paging.Next == "" {
			return found, false, nil
		}
		if response.Paging.Cursors.After == "" {
			break // the list has pages that cannot be requested
		}
		params.Set("after", response.Paging.Cursors.After)
	}
	return found, true, nil
}

// Page returns one Page of a person.
func (l Login) Page(ctx context.Context, person network.Grant, id, fields string) (Page, error) {
	var response Page
	err := l.get(ctx, person, id, url.Values{"fields": {fields}}, &response)
	return response, err
}
