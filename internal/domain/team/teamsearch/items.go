package teamsearch

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"pressroom.example/pressroom/internal/platform/db"
)

// ItemKind is a kind of item that has a name. Its values are the prefixes of the kinds of audit events about such
// items.
type ItemKind string

// The kinds of items that ItemNames supports.
const (
	BrandVoice  ItemKind = "brand_voice"
	HashtagList ItemKind = "hashtag_list"
	Media       ItemKind = "media"
	Member      ItemKind = "member"
	Report      ItemKind = "report"
)

// itemQueries select the IDs and names of a team's items.
var itemQueries = map[ItemKind]string{
	BrandVoice:  `SELECT id, name FROM brand_voices WHERE team_id = ? AND id IN `,
	HashtagList: `SELECT id, name FROM hashtag_lists WHERE team_id = ? AND id IN `,
	Media:       `SELECT id, name FROM media WHERE team_id = ? AND id IN `,
	Member:      `SELECT p.id, p.name FROM memberships m JOIN people p ON p.id = m.person_id WHERE m.team_id = ? AND p.id IN `,
	Report: `SELECT id, CASE WHEN kind = 'hashtag' THEN '#' || subject ELSE '@' || subject END
		FROM reports WHERE team_id = ? AND id IN `,
}

// ItemNames returns the names of a team's items of one kind, by ID. It omits items that no longer exist.
func ItemNames(ctx context.Context, d *db.DB, team int64, kind ItemKind, ids []string) (map[string]string, error) {
	out, args := map[string]string{}, []any{team}
	for _, id := range ids {
		if kind == Report {
			args = append(args, id)
		} else if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			args = append(args, n)
		}
	}
	if len(args) == 1 {
		return out, nil
	}
	type row struct{ id, name string }
	found, err := db.All(ctx, d, func(rows *sql.Rows, r *row) error { return rows.Scan(&r.id, &r.name) },
		itemQueries[kind]+`(`+db.Placeholders(len(args)-1)+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("reading the names of %s items: %w", kind, err)
	}
	for _, r := range found {
		out[r.id] = r.name
	}
	return out, nil
}
