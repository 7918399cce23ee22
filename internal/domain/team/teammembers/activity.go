package teammembers

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Activity holds the times when a person became a member of a team and last used the app.
type Activity struct {
	JoinedAt time.Time
	ActiveAt time.Time // accurate to a few minutes; zero if unknown
}

// ReadActivity returns the activity of a member.
func ReadActivity(ctx context.Context, d *db.DB, team, person int64) (Activity, error) {
	var joinedAt, session, browser int64
	err := d.QueryRow(ctx, `SELECT created_at,
		COALESCE((SELECT MAX(s.used_at) FROM sessions s WHERE s.person_id = m.person_id), 0),
		COALESCE((SELECT MAX(b.used_at) FROM known_browsers b WHERE b.person_id = m.person_id), 0)
		FROM memberships m WHERE m.team_id = ? AND m.person_id = ?`, team, person).Scan(&joinedAt, &session, &browser)
	if err != nil {
		return Activity{}, fmt.Errorf("reading the activity of a member: %w", err)
	}
	return Activity{db.Time(joinedAt), db.Time(max(session, browser))}, nil
}
