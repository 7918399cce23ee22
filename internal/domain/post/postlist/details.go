// Package postlist lists a team's posts for the pages of the app.
package postlist

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/db"
)

// Details are the parts of a list entry that are not in the API's PostEntry.
type Details struct {
	Template bool // whether the post is the template of a series
	Approval post.Approval
	Unsent   bool  // whether the post waits for approval, but its current version was not sent to the client
	Picture  int64 // ID of the first media item if it is an image; otherwise 0
	IsVideo  bool  // whether the first media item is a video
	// Submitted is when the post was first submitted. It is zero if the post was not submitted.
	Submitted time.Time
	// Unconfirmed is set if the outcome on at least one account is unknown.
	Unconfirmed bool
}

// States returns the states to show for a status. If the outcome on an account is unknown, unconfirmed replaces failed
// and is added to partially_published.
func (d Details) States(s post.Status) []post.Status {
	switch {
	case d.Unconfirmed && s == post.Failed:
		return []post.Status{post.Status(post.TargetUnconfirmed)}
	case d.Unconfirmed && s == post.PartiallyPublished:
		return []post.Status{s, post.Status(post.TargetUnconfirmed)}
	}
	return []post.Status{s}
}

// ListDetails returns the details of a team's posts by ID. It omits posts of other teams.
func ListDetails(ctx context.Context, d *db.DB, team int64, ids []string) (map[string]Details, error) {
	out := map[string]Details{}
	if len(ids) == 0 {
		return out, nil
	}
	type detailsRow struct {
		Details
		id string
	}
	found, err := db.All(ctx, d, func(rows *sql.Rows, details *detailsRow) error {
		var template, picture, submitted, unconfirmed, sent int64
		var kind string
		err := rows.Scan(&details.id, &template, &details.Approval, &picture, &kind, &submitted, &unconfirmed, &sent)
		details.Template, details.IsVideo, details.Submitted = template != 0, kind == "video", db.Time(submitted)
		details.Unconfirmed = unconfirmed != 0
		details.Unsent = details.Approval == post.Waiting && sent == 0
		if kind == "image" {
			details.Picture = picture
		}
		return err
	}, `SELECT p.id, p.is_template, p.approval, COALESCE(m.id, 0), COALESCE(m.kind, ''), p.submitted_at,
		CASE WHEN EXISTS (SELECT 1 FROM post_targets t WHERE t.post_id = p.id AND t.state = 'unconfirmed') THEN 1
		ELSE 0 END, p.approval_sent
		FROM posts p LEFT JOIN post_media x ON x.post_id = p.id AND x.position = 0
		LEFT JOIN media m ON m.id = x.media_id AND (m.thumbnail <> '' OR m.kind = 'video') WHERE p.team_id = ?
		AND p.id IN (`+db.Placeholders(len(ids))+`)`, db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading details of posts: %w", err)
	}
	for _, details := range found {
		out[details.id] = details.Details
	}
	return out, nil
}
