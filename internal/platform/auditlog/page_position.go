package auditlog

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// MaxCounted is the maximum number of events that a PagePosition counts exactly.
const MaxCounted = 10_000

// PagePosition is the position of a page among all selected events. Newer and Total are at most MaxCounted+1.
type PagePosition struct {
	Newer    int   // events on earlier pages
	Total    int   // all selected events
	Previous int64 // BeforeID of the previous page; 0 if the previous page is the first page
}

// FindPosition returns the position of a page among a team's events. size is the maximum number of events on a page.
func FindPosition(ctx context.Context, q db.Querier, team int64, page Page, size int) (PagePosition, error) {
	before := page.BeforeID
	page.BeforeID = 0
	where, args := page.where(team)
	return findPosition(ctx, q, where, args, before, size)
}

// FindEntryPosition returns the position of a page in the operator's list of events. size is the maximum number of
// events on a page.
func FindEntryPosition(ctx context.Context, q db.Querier, filter Filter, size int) (PagePosition, error) {
	filter, err := filter.boundIDs(ctx, q)
	if err != nil {
		return PagePosition{}, err
	}
	before := filter.BeforeID
	filter.BeforeID = 0
	where, args := filter.where()
	return findPosition(ctx, q, where, args, before, size)
}

func findPosition(ctx context.Context, q db.Querier, where string, args []any, beforeID int64, size int) (PagePosition, error) {
	var out PagePosition
	var err error
	if out.Total, err = count(ctx, q, where, args); err != nil || beforeID == 0 {
		return out, err
	}
	where, args = where+` AND e.id >= ?`, append(args, beforeID)
	if out.Newer, err = count(ctx, q, where, args); err != nil {
		return out, err
	}
	newerIDs, err := db.All(ctx, q, func(rows *sql.Rows, id *int64) error { return rows.Scan(id) },
		`SELECT e.id FROM events e WHERE `+where+` ORDER BY e.id LIMIT ?`, append(args, size+1)...)
	if err != nil {
		return out, fmt.Errorf("finding the previous events: %w", err)
	}
	if len(newerIDs) > size {
		out.Previous = newerIDs[size-1] + 1
	}
	return out, nil
}

// count returns the number of events that match a condition, at most MaxCounted+1.
func count(ctx context.Context, q db.Querier, where string, args []any) (int, error) {
	var n int
	err := q.QueryRow(ctx, `SELECT COUNT(*) FROM (SELECT e.id FROM events e WHERE `+where+` LIMIT ?) counted`,
		append(args, MaxCounted+1)...).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("counting events: %w", err)
	}
	return n, nil
}
