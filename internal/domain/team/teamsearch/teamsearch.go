// Package teamsearch finds teams and people for the operator.
package teamsearch

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pressroom/internal/domain/team"
	"pressroom/internal/platform/db"
)

// Query selects teams or people whose name or email address contains a text or whose ID it is; all if it is empty.
// After is the ID below the first result.
type Query struct {
	Text  string
	After int64
	Most  int
}

// Results are the results of a part of the search. Next is the ID after which to continue; 0 at the end.
type Results[T any] struct {
	Items []T
	Next  int64
}

// lookedThrough is the number of teams or people read per search, because no index finds a part of a name, and a page
// with few results must not read everything.
const lookedThrough = 10_000

// pattern returns the LIKE pattern of the search.
func (s Query) pattern() string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`,
		`\_`).Replace(strings.ToLower(strings.TrimSpace(s.Text))) + "%"
}

// number returns the ID that the text is, on the first page; else 0.
func (s Query) number() int64 {
	number, err := strconv.ParseInt(strings.TrimSpace(s.Text), 10, 64)
	if err != nil || s.After > 0 {
		return 0
	}
	return number
}

// address returns the search text if it is a complete email address, else a value that matches nobody.
func (s Query) address() string {
	if text := strings.ToLower(strings.TrimSpace(s.Text)); s.After == 0 && strings.Contains(text, "@") {
		return text
	}
	return "@"
}

// within returns the last ID that a search scans, and whether there are more.
func (s Query) within(ctx context.Context, q db.Querier, table string) (int64, bool, error) {
	var last int64
	err := q.QueryRow(ctx,
		`SELECT COALESCE(MAX(id), 0) FROM (SELECT id FROM `+table+` WHERE id > ? ORDER BY id LIMIT ?) x`, s.After,
		lookedThrough).Scan(&last)
	var more bool
	if err == nil {
		err = q.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM `+table+` WHERE id > ?)`, last).Scan(&more)
	}
	if err != nil {
		return 0, false, fmt.Errorf("looking through %s: %w", table, err)
	}
	return last, more, nil
}

// arrangeHits returns the hits in order, starting with an exact ID, up to the requested number.
func arrangeHits[T any](q Query, hits, named []T, id func(T) int64, last int64, more bool) Results[T] {
	out := Results[T]{Items: hits}
	switch {
	case len(hits) > q.Most:
		out.Items, out.Next = hits[:q.Most], id(hits[q.Most-1])
	case more:
		out.Next = last
	}
	for _, one := range named {
		out.Items = slices.DeleteFunc(out.Items, func(other T) bool { return id(other) == id(one) })
	}
	out.Items = append(named, out.Items...)
	return out
}

// Teams searches teams by ID order, for the operator. Each call reads a limited part of them.
func Teams(ctx context.Context, d *db.DB, q Query) (Results[team.Team], error) {
	last, more, err := q.within(ctx, d, "teams")
	if err != nil {
		return Results[team.Team]{}, err
	}
	named, err := db.All(ctx, d, team.ScanTeam, `SELECT `+team.Columns+` FROM teams WHERE id = ?`, q.number())
	if err != nil {
		return Results[team.Team]{}, fmt.Errorf("finding a team by its number: %w", err)
	}
	hits, err := db.AllSized(ctx, d, q.Most+1, team.ScanTeam,
		`SELECT `+team.Columns+
			` FROM teams WHERE id > ? AND id <= ? AND LOWER(name) LIKE ? ESCAPE '\' ORDER BY id LIMIT ?`, q.After, last,
		q.pattern(), q.Most+1)
	if err != nil {
		return Results[team.Team]{}, fmt.Errorf("finding teams: %w", err)
	}
	return arrangeHits(q, hits, named, func(t team.Team) int64 { return t.ID }, last, more), nil
}

// People searches people by ID order, for the operator. Each call reads a limited part of them.
func People(ctx context.Context, d *db.DB, q Query) (Results[team.Person], error) {
	last, more, err := q.within(ctx, d, "people")
	if err != nil {
		return Results[team.Person]{}, err
	}
	named, err := db.All(ctx, d, team.ScanPerson, `SELECT `+team.PersonColumns+` FROM people WHERE id = ? OR email = ?`,
		q.number(), q.address())
	if err != nil {
		return Results[team.Person]{}, fmt.Errorf("finding a person by number or address: %w", err)
	}
	hits, err := db.AllSized(ctx, d, q.Most+1, team.ScanPerson,
		`SELECT `+team.PersonColumns+
			` FROM people WHERE id > ? AND id <= ? AND (LOWER(name) LIKE ? ESCAPE '\' OR email LIKE ? ESCAPE '\')
		ORDER BY id LIMIT ?`,
		q.After, last, q.pattern(), q.pattern(), q.Most+1)
	if err != nil {
		return Results[team.Person]{}, fmt.Errorf("finding people: %w", err)
	}
	return arrangeHits(q, hits, named, func(p team.Person) int64 { return p.ID }, last, more), nil
}
