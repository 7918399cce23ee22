// Package postlist lists a team's posts as the app shows them.
package postlist

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom/internal/domain/post"
	"pressroom/internal/platform/db"
)

// Details are what the app's lists show of a post in addition to its summary.
type Details struct {
	Template bool // template of a series
	Approval post.Approval
	Picture  int64 // id of its first medium if it is an image; else 0
	Film     bool  // its first medium is a video
	// Submitted is when it was first submitted; zero if never.
	Submitted time.Time
	// Unconfirmed is set if the outcome at a network is unknown.
	Unconfirmed bool
}

// States returns the states that lists show: unconfirmed replaces failed and is added to partially_published.
func (g Details) States(s post.Status) []post.Status {
	switch {
	case g.Unconfirmed && s == post.Failed:
		return []post.Status{post.Status(post.TargetUnconfirmed)}
	case g.Unconfirmed && s == post.PartiallyPublished:
		return []post.Status{s, post.Status(post.TargetUnconfirmed)}
	}
	return []post.Status{s}
}

// DetailsOf returns the details of a team's posts by id. Posts of other teams are omitted.
func DetailsOf(ctx context.Context, d *db.DB, team int64, ids []string) (map[string]Details, error) {
	out := map[string]Details{}
	if len(ids) == 0 {
		return out, nil
	}
	type seen struct {
		Details
		id string
	}
	found, err := db.All(ctx, d, func(rows *sql.Rows, g *seen) error {
		var template, picture, submitted, unconfirmed int64
		var kind string
		err := rows.Scan(&g.id, &template, &g.Approval, &picture, &kind, &submitted, &unconfirmed)
		g.Template, g.Film, g.Submitted = template != 0, kind == "video", db.Time(submitted)
		g.Unconfirmed = unconfirmed != 0
		if kind == "image" {
			g.Picture = picture
		}
		return err
	}, `SELECT p.id, p.is_template, p.approval, COALESCE(m.id, 0), COALESCE(m.kind, ''), p.submitted_at,
		CASE WHEN EXISTS (SELECT 1 FROM post_targets t WHERE t.post_id = p.id AND t.state = 'unconfirmed') THEN 1
		ELSE 0 END
		FROM posts p LEFT JOIN post_media x ON x.post_id = p.id AND x.position = 0
		LEFT JOIN media m ON m.id = x.media_id AND (m.thumbnail <> '' OR m.kind = 'video') WHERE p.team_id = ?
		AND p.id IN (`+db.Placeholders(len(ids))+`)`, db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading details of posts: %w", err)
	}
	for _, g := range found {
		out[g.id] = g.Details
	}
	return out, nil
}
