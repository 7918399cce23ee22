package account

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// DisplayNames returns the untrusted display names of a team's accounts, by account ID. It omits accounts without a
// display name and accounts whose display name equals the username.
func DisplayNames(ctx context.Context, q db.Querier, team int64) (map[int64]string, error) {
	out := map[int64]string{}
	_, err := db.All(ctx, q, func(rows *sql.Rows, _ *struct{}) error {
		var id int64
		var name string
		err := rows.Scan(&id, &name)
		out[id] = name
		return err
	}, `SELECT id, display_name FROM social_accounts WHERE team_id = ? AND display_name <> '' AND display_name <> username`, team)
	if err != nil {
		return nil, fmt.Errorf("reading the display names of the accounts of team %d: %w", team, err)
	}
	return out, nil
}
