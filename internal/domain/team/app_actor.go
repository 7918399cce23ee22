package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/platform/db"
)

// InApp returns the actor of a person in a team, or not_found if the person is suspended or not a member. A pause of
// everything leaves reading, so that people see what is going on; the API's switches are about keys alone.
func (s *Service) InApp(ctx context.Context, person, team int64) (*access.Actor, error) {
	var a access.Actor
	var zone string
	var until, closed int64
	err := s.db.QueryRow(ctx,
		`SELECT t.id, t.name, t.timezone, t.content_language, t.plan, t.plan_until, t.closed_at, p.id, p.name, m.role
		FROM memberships m JOIN teams t ON t.id = m.team_id JOIN people p ON p.id = m.person_id
		WHERE m.person_id = ? AND m.team_id = ? AND p.held_at = 0`, person, team).
		Scan(&a.TeamID, &a.TeamName, &zone, &a.Language, &a.Plan, &until, &closed, &a.PersonID, &a.PersonName, &a.Role)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, apierr.Missing()
	}
	if err != nil {
		return nil, fmt.Errorf("looking up who acts: %w", err)
	}
	if a.Zone, err = time.LoadLocation(zone); err != nil {
		return nil, fmt.Errorf("loading the time zone of team %d: %w", team, err)
	}
	a.Plan = s.terms.InEffect(a.Plan, db.Time(until), s.db.Now()).ID
	a.Daily = access.Daily{FreeCalls: -1, KeyCredits: -1, TeamCredits: -1}
	paused, err := pausedFor(ctx, s.db, team, 0)
	if err != nil {
		return nil, err
	}
	a.Gates = access.Gates{TeamClosed: closed > 0, PausedKinds: paused.PausedKinds, Held: paused.Held}
	if paused.Paused {
		a.Gates.PausedKinds = []access.Capability{access.Write, access.Publish, access.Spend}
	}
	a.Capabilities = slices.DeleteFunc(access.RoleCapabilities(a.Role), a.IsPaused)
	return &a, nil
}
