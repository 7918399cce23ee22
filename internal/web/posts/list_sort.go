package posts

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// maxSorted is the maximum number of posts to sort by a metric. Only the newest posts are sorted.
const maxSorted = 1000

// sorting is an order in which published posts can be listed.
type sorting struct {
	Name   string // value in the URL
	Label  locale.Key
	order  locale.Key                      // description; empty to use the filter's
	metric func(analytics.PostSums) *int64 // metric to sort by; nil for the order by time
}

// sortings are the orders of published posts. The first is the default.
var sortings = []sorting{
	{"", "Newest", "", nil},
	{"views", "Most views", "Most views first.", func(s analytics.PostSums) *int64 { return s.Views }},
	{"engagement", "Most engagement", "Most engagement first.", func(s analytics.PostSums) *int64 { return s.Engagement }},
}

// Sortings returns the orders to choose from, or nil if the tab has only one order.
func (v listView) Sortings() []sorting {
	if tab, ok := postlist.ParseTab(v.Status); !ok || tab != postlist.Published {
		return nil
	}
	return sortings
}

// sorting returns the selected order.
func (v listView) sorting() (sorting, error) {
	for _, s := range v.Sortings() {
		if s.Name == v.Sort {
			return s, nil
		}
	}
	if v.Sort != "" && v.Sortings() != nil {
		return sorting{}, apierr.Invalid(apierr.NotAllowedValue, "sort", "Select one of the orders.")
	}
	return sortings[0], nil
}

// listSorted returns a page of posts sorted by a metric, and the cursor of the next page, or "". A cursor is an index
// in the sorted list.
func (p *Handlers) listSorted(r *http.Request, f postlist.Filter, s sorting, cursor string) ([]postlist.Entry, string, error) {
	from, team := 0, shell.VisitorOf(r.Context()).Team.ID
	if cursor != "" {
		var err error
		if from, err = strconv.Atoi(cursor); err != nil || from < 0 || from > maxSorted {
			return nil, "", apierr.Invalid(apierr.InvalidCursor, "cursor",
				"This page of the list does not exist. Start at the first page.")
		}
	}
	ids, err := postlist.ListIDs(r.Context(), p.DB, team, f, maxSorted)
	if err != nil {
		return nil, "", err
	}
	sums, err := p.analytics.SumByPost(r.Context(), team, ids)
	if err != nil {
		return nil, "", err
	}
	value := func(id string) int64 {
		if n := s.metric(sums[id]); n != nil {
			return *n
		}
		return -1
	}
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(value(b), value(a)) })
	next, to := "", min(from+postsPerPage, len(ids))
	if to < len(ids) {
		next = strconv.Itoa(to)
	}
	page, err := postlist.ListByID(r.Context(), p.DB, team, ids[min(from, to):to])
	return page, next, err
}
