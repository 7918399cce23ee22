package gallery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// Neighbors returns the IDs of the items before and after an item in a team's list, or 0 if there is none. The item
// itself does not need to match the filter.
func Neighbors(ctx context.Context, q db.Querier, team int64, f Filter, id int64) (int64, int64, error) {
	before, err := neighbor(ctx, q, team, f, id, false)
	if err != nil {
		return 0, 0, err
	}
	after, err := neighbor(ctx, q, team, f, id, true)
	return before, after, err
}

func neighbor(ctx context.Context, q db.Querier, team int64, f Filter, id int64, after bool) (int64, error) {
	text, args := neighborQuery(team, f, id, after)
	var neighborID int64
	err := q.QueryRow(ctx, text, args...).Scan(&neighborID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("reading a neighbor of media item %d of team %d: %w", id, team, err)
	}
	return neighborID, nil
}

func neighborQuery(team int64, f Filter, id int64, after bool) (string, []any) {
	where, args := f.where(team)
	operator, direction := ">", ""
	if after == (f.Order == Newest) {
		operator, direction = "<", " DESC"
	}
	order := "m.id" + direction
	if f.Order == ByName {
		where += ` AND (m.search, m.id) ` + operator + ` (COALESCE((SELECT s.search FROM media s WHERE s.id = ?), ''), ?)`
		args, order = append(args, id), "m.search"+direction+", m.id"+direction
	} else {
		where += ` AND m.id ` + operator + ` ?`
	}
	return `SELECT m.id FROM media m WHERE ` + where + ` ORDER BY ` + order + db.LimitClause(1), append(args, id)
}
