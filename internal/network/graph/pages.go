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
	pagesPerList            = "100"
	maxListPages            = 20 // maximum number of pages that are read of a list
	maxBusinesses           = 200
	maxPortfolioReaders     = 8                // concurrent requests
	defaultPortfolioTimeout = 30 * time.Second // time limit for reading the lists of all portfolios
)

// Page is a Facebook Page in the network's list for a person. Its texts are untrusted.
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
// list may omit these Pages. Pages without a token are omitted.
//
// If there may be more Pages than it could read, Pages returns network.ErrMoreAccounts with the Pages that it read. If
// reading a list failed temporarily, it returns network.ErrUnreadAccounts with the Pages of the other lists.
//
// The API edges of portfolios are undocumented, but widely used. They are also missing from Meta's API description.
func (l Login) Pages(ctx context.Context, person network.Grant, fields string) ([]Page, error) {
	ownList := pageList{}
	ownList.pages, ownList.hasMore, ownList.err = l.OwnPages(ctx, person, fields)
	lists := []pageList{ownList}
	if (ownList.err == nil || isRetryable(ownList.err)) && slices.Contains(person.Scopes, ScopeBusiness) {
		lists = append(lists, l.readPortfolios(ctx, person, fields)...)
	}
	pages, hasMore := ownList.pages, false
	var firstErr error // the first temporary error
	for _, list := range lists {
		pages, hasMore = appendNew(pages, list.pages), hasMore || list.hasMore
		switch {
		case list.err == nil:
		case isRetryable(list.err) && ctx.Err() == nil:
			if firstErr == nil {
				firstErr = list.err
			}
		default:
			return nil, list.err
		}
	}
	if firstErr != nil && len(pages) == 0 {
		return nil, firstErr
	}
	return pages, incompleteListError(firstErr != nil, hasMore)
}

// incompleteListError returns the error for an incomplete list of Pages, or nil if the list is complete. The list is
// incomplete if some lists could not be read or if there are more Pages.
func incompleteListError(hasUnread, hasMore bool) error {
	switch {
	case hasUnread:
		return network.ErrUnreadAccounts
	case hasMore:
		return network.ErrMoreAccounts
	}
	return nil
}

// readPortfolios reads the lists of Pages in a person's business portfolios. Lists that the network refuses to return
// are empty. Lists that are not read within the time limit are marked as incomplete.
func (l Login) readPortfolios(ctx context.Context, person network.Grant, fields string) []pageList {
	timedCtx, cancel := context.WithTimeout(ctx, l.portfolioTimeout())
	defer cancel()
	businesses, hasMore, err := readList[CreatedObject](timedCtx, l, person, "me/businesses", "id")
	businesses = slices.DeleteFunc(businesses, func(b CreatedObject) bool { return !IsID(b.ID) })
	var edges []string
	for _, b := range businesses[:min(len(businesses), maxBusinesses)] {
		edges = append(edges, b.ID+"/owned_pages", b.ID+"/client_pages")
	}
	lists := l.readEdges(timedCtx, person, edges, fields)
	lists = append(lists, pageList{hasMore: hasMore || len(businesses) > maxBusinesses, err: err})
	for i, list := range lists {
		switch {
		case list.err == nil:
		case isRejection(list.err):
			lists[i].err = nil
		case timedCtx.Err() != nil && ctx.Err() == nil: // The time limit has passed.
			lists[i].err, lists[i].hasMore = nil, true
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

func (l Login) portfolioTimeout() time.Duration {
	if l.PortfolioTimeout > 0 {
		return l.PortfolioTimeout
	}
	return defaultPortfolioTimeout
}

// pageList is the result of reading a list of Pages.
type pageList struct {
	pages   []Page
	hasMore bool
	err     error
}

// readEdges reads several lists of Pages. It reads maxPortfolioReaders lists at a time, and returns them in the order
// of the edges.
func (l Login) readEdges(ctx context.Context, person network.Grant, edges []string, fields string) []pageList {
	lists, slots := make([]pageList, len(edges)), make(chan struct{}, maxPortfolioReaders)
	var wg sync.WaitGroup
	for i, edge := range edges {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			lists[i].pages, lists[i].hasMore, lists[i].err = readList[Page](ctx, l, person, edge, fields)
		})
	}
	wg.Wait()
	return lists
}

// OwnPages returns the Pages in the person's own list, with the given fields and the person's tasks. It also reports
// whether there may be more Pages.
func (l Login) OwnPages(ctx context.Context, person network.Grant, fields string) ([]Page, bool, error) {
	pages, hasMore, err := readList[Page](ctx, l, person, "me/accounts", fields+",tasks")
	return slices.DeleteFunc(pages, Page.isUnusable), hasMore, err
}

func (p Page) isUnusable() bool { return !IsID(p.ID) || p.Access == "" }

// appendNew adds the usable Pages that were not found before.
func appendNew(list, pages []Page) []Page {
	for _, p := range pages {
		if !p.isUnusable() && !slices.ContainsFunc(list, func(other Page) bool { return other.ID == p.ID }) {
			list = append(list, p)
		}
	}
	return list
}

// readList reads at most maxListPages pages of a list. It also reports whether the list may have more items.
func readList[T any](ctx context.Context, l Login, person network.Grant, path, fields string) ([]T, bool, error) {
	params := url.Values{"fields": {fields}, "limit": {pagesPerList}}
	var items []T
	for range maxListPages {
		var response listPage[T]
		if err := l.get(ctx, person, path, params, &response); err != nil {
			return items, false, err
		}
		items = append(items, response.Data...)
		if response.Paging.Next == "" {
			return items, false, nil
		}
		if response.Paging.Cursors.After == "" {
			break // The list has more pages, but they cannot be requested.
		}
		params.Set("after", response.Paging.Cursors.After)
	}
	return items, true, nil
}

// Page returns the Page with the given ID, using a person's token.
func (l Login) Page(ctx context.Context, person network.Grant, id, fields string) (Page, error) {
	var response Page
	err := l.get(ctx, person, id, url.Values{"fields": {fields}}, &response)
	return response, err
}
