package postlist

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// ReviewEvent records that a version of a post was sent to a client, or that the post was changed.
type ReviewEvent struct {
	At      time.Time
	Person  string // empty if the service changed the post
	Version int64  // the version that was sent; 0 for a change
	Changed bool   // whether the post was changed instead of sent
}

// maxReviewEvents is the maximum number of entries that ReviewEvents returns.
const maxReviewEvents = 50

const reviewEventsQuery = `SELECT e.at, COALESCE(p.name, ''), e.kind, e.detail FROM events e
	LEFT JOIN people p ON p.id = e.person_id WHERE e.team_id = ? AND e.subject = ?
	AND e.kind IN ('post.approval_asked', 'post.changed', 'post.returned') ORDER BY e.id DESC LIMIT ?`

// ReviewEvents returns when a team's post was sent to clients and when it was changed, newest first.
func ReviewEvents(ctx context.Context, q db.Querier, team int64, id string) ([]ReviewEvent, error) {
	found, err := db.All(ctx, q, func(rows *sql.Rows, s *ReviewEvent) error {
		var at int64
		var kind, detail string
		if err := rows.Scan(&at, &s.Person, &kind, &detail); err != nil {
			return err
		}
		s.At, s.Changed = db.Time(at), kind != "post.approval_asked"
		var sent struct {
			Round int64 `json:"round"`
		}
		if !s.Changed && json.Unmarshal([]byte(detail), &sent) == nil {
			s.Version = sent.Round
		}
		return nil
	}, reviewEventsQuery, team, id, maxReviewEvents)
	if err != nil {
		return nil, fmt.Errorf("reading when post %s was sent to clients: %w", id, err)
	}
	return found, nil
}
