package teamsearch

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// Order is the column to sort results by. Other values sort by ID.
type Order string

// The orders. ByCredits, ByMembers, ByAccounts and ByLastActive apply to teams. BySignIn and ByMemberships apply to
// people.
const (
	ByName        Order = "name"
	ByCredits     Order = "credits"
	ByMembers     Order = "members"
	ByAccounts    Order = "accounts"
	ByLastActive  Order = "active"
	BySignIn      Order = "signed_in"
	ByMemberships Order = "teams"
)

// teamOrders maps orders to the SQL expressions that sort teams. Their values are the same as in TeamStats.
var teamOrders = map[Order]string{ //nolint:gosec // SQL, not credentials
	ByName:       `LOWER(name)`,
	ByCredits:    `COALESCE((SELECT w.available FROM wallets w WHERE w.team_id = teams.id), 0)`,
	ByMembers:    `(SELECT COUNT(*) FROM memberships m WHERE m.team_id = teams.id)`,
	ByAccounts:   `(SELECT COUNT(*) FROM social_accounts a WHERE a.team_id = teams.id AND a.disconnected_at = 0)`,
	ByLastActive: `COALESCE((SELECT e.at FROM events e WHERE e.team_id = teams.id ORDER BY e.id DESC LIMIT 1), 0)`,
}

// peopleOrders maps orders to the SQL expressions that sort people. Their values are the same as in Activity.
var peopleOrders = map[Order]string{
	ByName:        `LOWER(name)`,
	ByMemberships: `(SELECT COUNT(*) FROM memberships m WHERE m.person_id = people.id)`,
	BySignIn: `COALESCE((SELECT MAX(x.at) FROM (SELECT created_at AS at FROM sessions WHERE person_id = people.id
		UNION ALL SELECT used_at FROM known_browsers WHERE person_id = people.id) x), 0)`,
}

// selection describes the rows and columns that sortedPage selects from a table.
type selection[T any] struct {
	table, columns string
	condition      string // SQL condition with a placeholder for each of args
	args           []any
	scan           func(*sql.Rows, *T) error
}

// sortedPage returns a page of the first scanLimit rows of a table, sorted by an SQL expression. The query's After is
// the number of rows on the previous pages.
func sortedPage[T any](ctx context.Context, d *db.DB, q Query, orderExpr string, sel selection[T]) (Results[T], error) {
	lastID, isPartial, err := Query{}.scanRange(ctx, d, sel.table)
	if err != nil {
		return Results[T]{}, err
	}
	if q.Descending {
		orderExpr += ` DESC`
	}
	items, err := db.AllSized(ctx, d, q.Limit+1, sel.scan, `SELECT `+sel.columns+` FROM `+sel.table+
		` WHERE id <= ? AND (`+sel.condition+`)`+stateConditions[q.State]+` ORDER BY `+orderExpr+`, id LIMIT ? OFFSET ?`,
		append(append([]any{lastID}, sel.args...), q.Limit+1, q.After)...)
	if err != nil {
		return Results[T]{}, fmt.Errorf("sorting %s: %w", sel.table, err)
	}
	out := Results[T]{Items: items, Partial: isPartial}
	if len(items) > q.Limit {
		out.Items, out.Next = items[:q.Limit], q.After+int64(q.Limit)
	}
	return out, nil
}
