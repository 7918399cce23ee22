package post

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom/internal/platform/db"
)

// ListDetails is what a list of people's shows of a post beside its summary.
type ListDetails struct {
	Template bool // a series is made from it
	Approval Approval
	Picture  int64 // its first image, in the library; 0 where it shows none first
	Film     bool  // it shows a video first
	// Submitted is when it was first handed over to the networks; zero where it never was.
	Submitted time.Time
	// Unconfirmed is true of one that a network may have and cannot say.
	Unconfirmed bool
}

// States are what lists show of how a post stands: that a network did not confirm it is told in place of its failure, and
// beside what else came of it.
func (g ListDetails) States(s Status) []Status {
	switch {
	case g.Unconfirmed && s == Failed:
		return []Status{Status(TargetUnconfirmed)}
	case g.Unconfirmed && s == PartiallyPublished:
		return []Status{s, Status(TargetUnconfirmed)}
	}
	return []Status{s}
}

// ListDetails reads what lists show of some posts of a team, by their ids. What the team does not have is not among them.
func (s *Service) ListDetails(ctx context.Context, team int64, ids []string) (map[string]ListDetails, error) {
	out := map[string]ListDetails{}
	if len(ids) == 0 {
		return out, nil
	}
	type seen struct {
		ListDetails
		id string
	}
	found, err := db.All(ctx, s.db, func(rows *sql.Rows, g *seen) error {
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
		CASE WHEN EXISTS (SELECT 1 FROM post_targets t WHERE t.post_id = p.id AND t.state = 'unconfirmed') THEN 1 ELSE 0 END
		FROM posts p LEFT JOIN post_media x ON x.post_id = p.id AND x.position = 0
		LEFT JOIN media m ON m.id = x.media_id AND (m.thumbnail <> '' OR m.kind = 'video') WHERE p.team_id = ? AND p.id IN (`+db.Marks(len(ids))+`)`, db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading what lists show of posts: %w", err)
	}
	for _, g := range found {
		out[g.id] = g.ListDetails
	}
	return out, nil
}
