package postlist

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// Label describes a post in activity logs.
type Label struct {
	Excerpt string
	Clients map[int64]string // names of the deciding clients by approval round; untrusted
}

// Labels returns the labels of a team's posts by ID. It omits posts of other teams.
func Labels(ctx context.Context, d *db.DB, team int64, ids []string) (map[string]Label, error) {
	out := map[string]Label{}
	if len(ids) == 0 {
		return out, nil
	}
	type labelRow struct {
		id, text string
		round    int64
	}
	scan := func(rows *sql.Rows, row *labelRow) error { return rows.Scan(&row.id, &row.text, &row.round) }
	posts, err := db.All(ctx, d, scan, `SELECT id, excerpt, 0 FROM posts WHERE team_id = ? AND id IN (`+
		db.Placeholders(len(ids))+`)`, db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading the names of posts: %w", err)
	}
	clients, err := db.All(ctx, d, scan, `SELECT r.post_id, r.client_name, r.round FROM post_approvals r
		JOIN posts p ON p.id = r.post_id
		WHERE p.team_id = ? AND p.id IN (`+db.Placeholders(len(ids))+`) AND r.decided_at > 0`, db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading who decided posts: %w", err)
	}
	for _, row := range posts {
		out[row.id] = Label{row.text, map[int64]string{}}
	}
	for _, row := range clients {
		out[row.id].Clients[row.round] = row.text
	}
	return out, nil
}
