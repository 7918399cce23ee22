package teamsearch

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// Key is an API key or assistant that has not ended, with the name of its team.
type Key struct {
	ID         int64
	Name, Team string
}

// Keys returns the newest API keys and assistants of all teams whose name or team name contains part, ignoring case. It
// returns at most limit keys.
func Keys(ctx context.Context, d *db.DB, part string, limit int) ([]Key, error) {
	out, err := db.All(ctx, d, func(rows *sql.Rows, k *Key) error { return rows.Scan(&k.ID, &k.Name, &k.Team) },
		`SELECT k.id, k.name, t.name FROM api_keys k JOIN teams t ON t.id = k.team_id
		WHERE k.revoked_at = 0 AND k.lost = '' AND (? = '' OR LOWER(k.name || ' ' || t.name) LIKE '%' || LOWER(?) || '%')
		ORDER BY k.id DESC LIMIT ?`, part, part, limit)
	if err != nil {
		return nil, fmt.Errorf("searching API keys: %w", err)
	}
	return out, nil
}
