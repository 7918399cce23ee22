package operator

import (
	"slices"

	"pressroom.example/pressroom/internal/domain/team/teamsearch"
)

// sorting is the sort order of a table. The zero value sorts by ID.
type sorting struct {
	Order      teamsearch.Order
	Descending bool
	path       string
	query      teamsearch.Query
}

// textOrders lists the orders that are ascending by default. The others are descending.
var textOrders = []teamsearch.Order{"", teamsearch.ByName}

// sortingOf returns the sort order of a query's results.
func sortingOf(path string, q teamsearch.Query) sorting {
	return sorting{q.Order, q.Descending, path, q}
}

// SortPath returns the path of the list sorted by a column. If the list is already sorted by that column, the direction
// is reversed.
func (s sorting) SortPath(column string) string {
	q, order := s.query, teamsearch.Order(column)
	q.After = 0
	if q.Order == order {
		q.Descending = !q.Descending
	} else {
		q.Order, q.Descending = order, !slices.Contains(textOrders, order)
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
