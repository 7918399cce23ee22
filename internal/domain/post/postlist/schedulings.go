package postlist

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Scheduling records that a post was scheduled or unscheduled.
type Scheduling struct {
	At     time.Time
	Person string // empty if the service scheduled or unscheduled the post
	Undone bool   // the post was unscheduled
}

// maxSchedulings is the maximum number of entries that Schedulings returns.
const maxSchedulings = 20

// schedulingsQuery repeats the predicate of a partial index, so that databases use the index.
const schedulingsQuery = `SELECT e.at, COALESCE(p.name, ''), e.kind = 'post.cancelled' FROM events e
	LEFT JOIN people p ON p.id = e.person_id WHERE e.team_id = ? AND e.subject = ?
	AND e.kind IN ('post.scheduled', 'post.cancelled') ORDER BY e.id DESC LIMIT ?`

// Schedulings returns when a team's post was scheduled and unscheduled, newest first.
func Schedulings(ctx context.Context, q db.Querier, team int64, id string) ([]Scheduling, error) {
	found, err := db.All(ctx, q, func(rows *sql.Rows, s *Scheduling) error {
		var at int64
		err := rows.Scan(&at, &s.Person, &s.Undone)
		s.At = db.Time(at)
		return err
	}, schedulingsQuery, team, id, maxSchedulings)
	if err != nil {
		return nil, fmt.Errorf("reading when post %s was scheduled: %w", id, err)
	}
	return found, nil
}
