package operator

import (
	"slices"

	"pressroom.example/pressroom/internal/domain/team/teamsearch"
)

// sorting is how the rows of a table are sorted. Its zero value sorts by ID.
type sorting struct {
	Order      teamsearch.Order
	Descending bool
	path       string
	query      teamsearch.Query
}

// textOrders are the orders that begin with the lowest value. The others begin with the highest.
var textOrders = []teamsearch.Order{"", teamsearch.ByName}

// sortingOf returns how the results of a query are sorted.
func sortingOf(path string, q teamsearch.Query) sorting {
	return sorting{q.Order, q.Descending, path, q}
}

// SortPath returns the path of the list sorted by a column, or in the opposite direction if it is sorted by it already.
func (s sorting) SortPath(column string) string {
	q, by := s.query, teamsearch.Order(column)
	q.After = 0
	if q.Order == by {
		q.Descending = !q.Descending
	} else {
		q.Order, q.Descending = by, !slices.Contains(textOrders, by)
	}
	return searchPath(s.path, q)
}

// Aria returns the aria-sort value of a column, or "".
func (s sorting) Aria(column string) string {
	switch {
	case string(s.Order) != column:
		return ""
	case s.Descending:
		return "descending"
	}
	return "ascending"
}
