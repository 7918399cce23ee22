// Package teamsearch searches teams and people for the operator.
package teamsearch

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
)

// Query selects teams or people by a part of the name or email address, or by ID. An empty text selects all of them. If
// Order is empty, results have IDs above After. Otherwise After is the number of results to skip.
type Query struct {
	Text       string
	After      int64
	Limit      int // maximum number of results
	State      State
	Order      Order
	Descending bool
}

// Results is a page of results. Next is the value of After for the next page, or 0 for the last page.
type Results[T any] struct {
	Items   []T
	Next    int64
	Partial bool // only the first scanLimit rows were sorted
}

// State selects teams or people by their state. Other values select all.
type State string

// The states. Closed applies to teams, the other states to people.
const (
	Closed      State = "closed"
	Operators   State = "operators"
	Suspended   State = "suspended"
	Unconfirmed State = "unconfirmed"
)

// stateConditions are the SQL conditions for the states.
var stateConditions = map[State]string{
	Closed: ` AND closed_at > 0`, Operators: ` AND operator = 1`, Suspended: ` AND held_at > 0`,
	Unconfirmed: ` AND email_proved_at = 0 AND deleted_at = 0`,
}

// scanLimit is the maximum number of teams or people that a search reads. No index supports a search for a part of a
// name, so a search with few results would otherwise read the whole table.
const scanLimit = 10_000

// pattern returns the LIKE pattern of the search.
func (s Query) pattern() string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`,
		`\_`).Replace(strings.ToLower(strings.TrimSpace(s.Text))) + "%"
}

// exactID returns the search text as an ID, or 0 if it is not a number. If the results are sorted by ID, it returns 0
// on all pages except the first.
func (s Query) exactID() int64 {
	number, err := strconv.ParseInt(strings.TrimSpace(s.Text), 10, 64)
	if err != nil || s.After > 0 && s.Order == "" {
		return 0
	}
	return number
}

// exactEmail returns the search text if it contains an @ and this is the first page. Otherwise, it returns a value that
// matches nobody.
func (s Query) exactEmail() string {
	if text := strings.ToLower(strings.TrimSpace(s.Text)); s.After == 0 && strings.Contains(text, "@") {
		return text
	}
	return "@"
}

// scanRange returns the ID of the last row that a search reads, and reports whether the table has rows after it.
func (s Query) scanRange(ctx context.Context, q db.Querier, table string) (int64, bool, error) {
	var lastID int64
	err := q.QueryRow(ctx,
		`SELECT COALESCE(MAX(id), 0) FROM (SELECT id FROM `+table+` WHERE id > ? ORDER BY id LIMIT ?) x`, s.After,
		scanLimit).Scan(&lastID)
	var isPartial bool
	if err == nil {
		err = q.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM `+table+` WHERE id > ?)`, lastID).Scan(&isPartial)
	}
	if err != nil {
		return 0, false, fmt.Errorf("reading a range of %s: %w", table, err)
	}
	return lastID, isPartial, nil
}

// mergeResults returns a page that begins with the exact matches. lastID and isPartial are the results of scanRange.
func mergeResults[T any](q Query, items, exact []T, id func(T) int64, lastID int64, isPartial bool) Results[T] {
	out := Results[T]{Items: items}
	switch {
	case len(items) > q.Limit:
		out.Items, out.Next = items[:q.Limit], id(items[q.Limit-1])
	case isPartial:
		out.Next = lastID
	}
	for _, match := range exact {
		out.Items = slices.DeleteFunc(out.Items, func(other T) bool { return id(other) == id(match) })
	}
	out.Items = append(exact, out.Items...)
	return out
}

// Teams searches teams. Each call reads at most scanLimit teams.
func Teams(ctx context.Context, d *db.DB, q Query) (Results[team.Team], error) {
	if orderExpr, ok := teamOrders[q.Order]; ok {
		return sortedPage(ctx, d, q, orderExpr, selection[team.Team]{"teams", team.Columns, `LOWER(name) LIKE ? ESCAPE '\' OR id = ?`,
			[]any{q.pattern(), q.exactID()}, team.ScanTeam})
	}
	lastID, isPartial, err := q.scanRange(ctx, d, "teams")
	if err != nil {
		return Results[team.Team]{}, err
	}
	exact, err := db.All(ctx, d, team.ScanTeam, `SELECT `+team.Columns+` FROM teams WHERE id = ?`+stateConditions[q.State], q.exactID())
	if err != nil {
		return Results[team.Team]{}, fmt.Errorf("finding a team by ID: %w", err)
	}
	items, err := db.AllSized(ctx, d, q.Limit+1, team.ScanTeam,
		`SELECT `+team.Columns+
			` FROM teams WHERE id > ? AND id <= ? AND LOWER(name) LIKE ? ESCAPE '\'`+stateConditions[q.State]+
			` ORDER BY id LIMIT ?`, q.After, lastID, q.pattern(), q.Limit+1)
	if err != nil {
		return Results[team.Team]{}, fmt.Errorf("finding teams: %w", err)
	}
	return mergeResults(q, items, exact, func(t team.Team) int64 { return t.ID }, lastID, isPartial), nil
}

// People searches people. Each call reads at most scanLimit people.
func People(ctx context.Context, d *db.DB, q Query) (Results[team.Person], error) {
	if orderExpr, ok := peopleOrders[q.Order]; ok {
		return sortedPage(ctx, d, q, orderExpr, selection[team.Person]{
			"people", team.PersonColumns,
			`LOWER(name) LIKE ? ESCAPE '\' OR email LIKE ? ESCAPE '\' OR id = ?`,
			[]any{q.pattern(), q.pattern(), q.exactID()}, team.ScanPerson,
		})
	}
	lastID, isPartial, err := q.scanRange(ctx, d, "people")
	if err != nil {
		return Results[team.Person]{}, err
	}
	exact, err := db.All(ctx, d, team.ScanPerson, `SELECT `+team.PersonColumns+` FROM people WHERE (id = ? OR email = ?)`+
		stateConditions[q.State], q.exactID(), q.exactEmail())
	if err != nil {
		return Results[team.Person]{}, fmt.Errorf("finding a person by ID or email address: %w", err)
	}
	items, err := db.AllSized(ctx, d, q.Limit+1, team.ScanPerson,
		`SELECT `+team.PersonColumns+
			` FROM people WHERE id > ? AND id <= ? AND (LOWER(name) LIKE ? ESCAPE '\' OR email LIKE ? ESCAPE '\')`+
			stateConditions[q.State]+` ORDER BY id LIMIT ?`,
		q.After, lastID, q.pattern(), q.pattern(), q.Limit+1)
	if err != nil {
		return Results[team.Person]{}, fmt.Errorf("finding people: %w", err)
	}
	return mergeResults(q, items, exact, func(p team.Person) int64 { return p.ID }, lastID, isPartial), nil
}
