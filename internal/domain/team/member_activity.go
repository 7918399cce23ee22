package team

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// MemberActivity says since when a person is a member of a team and when the person last used the app.
type MemberActivity struct {
	JoinedAt time.Time
	ActiveAt time.Time // to some minutes; zero if unknown
}

// MemberActivity returns the activity of a member.
func (s *Service) MemberActivity(ctx context.Context, team, person int64) (MemberActivity, error) {
	var joined, session, browser int64
	err := s.db.QueryRow(ctx, `SELECT created_at,
		COALESCE((SELECT MAX(s.used_at) FROM sessions s WHERE s.person_id = m.person_id), 0),
		COALESCE((SELECT MAX(b.used_at) FROM known_browsers b WHERE b.person_id = m.person_id), 0)
		FROM memberships m WHERE m.team_id = ? AND m.person_id = ?`, team, person).Scan(&joined, &session, &browser)
	if err != nil {
		return MemberActivity{}, fmt.Errorf("reading the activity of a member: %w", err)
	}
	return MemberActivity{db.Time(joined), db.Time(max(session, browser))}, nil
}
