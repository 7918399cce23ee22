package teamsearch

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Names maps IDs to names. Deleted teams and people have no names.
type Names map[int64]string

// TeamNames returns the names of teams.
func TeamNames(ctx context.Context, d *db.DB, ids []int64) (Names, error) {
	return readNames(ctx, d, "teams", ids)
}

// PersonNames returns the names of people.
func PersonNames(ctx context.Context, d *db.DB, ids []int64) (Names, error) {
	return readNames(ctx, d, "people", ids)
}

// KeyNames returns the names of API keys and assistants.
func KeyNames(ctx context.Context, d *db.DB, ids []int64) (Names, error) {
	return readNames(ctx, d, "api_keys", ids)
}

func readNames(ctx context.Context, d *db.DB, table string, ids []int64) (Names, error) {
	out := Names{}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) == 0 {
		return out, nil
	}
	type row struct {
		id   int64
		name string
	}
	found, err := db.All(ctx, d, func(rows *sql.Rows, r *row) error { return rows.Scan(&r.id, &r.name) },
		`SELECT id, name FROM `+table+` WHERE id IN (`+db.Placeholders(len(ids))+`)`, db.Args(ids[0], ids[1:])...)
	if err != nil {
		return nil, fmt.Errorf("reading names of %s: %w", table, err)
	}
	for _, r := range found {
		out[r.id] = r.name
	}
	return out, nil
}

// TeamStats describes how large and how active a team is.
type TeamStats struct {
	Members, Accounts int64
	Credits           int64     // available
	LastActive        time.Time // time of the last event in its audit log; zero if there is none
}

// StatsByTeam returns the TeamStats of teams, by ID.
func StatsByTeam(ctx context.Context, d *db.DB, ids []int64) (map[int64]TeamStats, error) {
	out := map[int64]TeamStats{}
	if len(ids) == 0 {
		return out, nil
	}
	type row struct {
		TeamStats

		id int64
	}
	found, err := db.All(ctx, d, func(rows *sql.Rows, r *row) error {
		var active int64
		err := rows.Scan(&r.id, &r.Members, &r.Accounts, &r.Credits, &active)
		r.LastActive = db.Time(active)
		return err
	}, `SELECT t.id, (SELECT COUNT(*) FROM memberships m WHERE m.team_id = t.id),
		(SELECT COUNT(*) FROM social_accounts a WHERE a.team_id = t.id AND a.disconnected_at = 0),
		COALESCE((SELECT w.available FROM wallets w WHERE w.team_id = t.id), 0),
		COALESCE((SELECT e.at FROM events e WHERE e.team_id = t.id ORDER BY e.id DESC LIMIT 1), 0)
		FROM teams t WHERE t.id IN (`+db.Placeholders(len(ids))+`)`, db.Args(ids[0], ids[1:])...)
	if err != nil {
		return nil, fmt.Errorf("reading the sizes of teams: %w", err)
	}
	for _, r := range found {
		out[r.id] = r.TeamStats
	}
	return out, nil
}
