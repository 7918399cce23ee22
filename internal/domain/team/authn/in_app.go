package authn

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

// InApp returns the actor of a person who uses the app in a team. It returns not_found if the person is suspended or
// not a member. If the operator has paused everything, the person can still read. A pause of the API does not apply to
// the app.
func (a *Authenticator) InApp(ctx context.Context, person, team int64) (*access.Actor, error) {
	var actor access.Actor
	var zone, personZone string
	var planUntil, closedAt int64
	err := a.db.QueryRow(ctx,
		`SELECT t.id, t.name, t.timezone, t.content_language, t.plan, t.plan_until, t.closed_at, p.id, p.name, p.timezone,
		m.role FROM memberships m JOIN teams t ON t.id = m.team_id JOIN people p ON p.id = m.person_id
		WHERE m.person_id = ? AND m.team_id = ? AND p.held_at = 0`, person, team).
		Scan(&actor.TeamID, &actor.TeamName, &zone, &actor.Language, &actor.Plan, &planUntil, &closedAt, &actor.PersonID,
			&actor.PersonName, &personZone, &actor.Role)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, apierr.ItemNotFound()
	}
	if err != nil {
		return nil, fmt.Errorf("looking up a member: %w", err)
	}
	if actor.Zone, err = time.LoadLocation(zone); err != nil {
		return nil, fmt.Errorf("loading the time zone of team %d: %w", team, err)
	}
	if actor.PersonZone = actor.Zone; personZone != "" {
		if actor.PersonZone, err = time.LoadLocation(personZone); err != nil {
			return nil, fmt.Errorf("loading the time zone of person %d: %w", person, err)
		}
	}
	actor.Plan = a.catalog.PlanInEffect(actor.Plan, db.Time(planUntil), a.db.Now()).ID
	actor.Daily = access.Daily{FreeCalls: -1, KeyCredits: -1, TeamCredits: -1}
	paused, err := readPauses(ctx, a.db, team, 0)
	if err != nil {
		return nil, err
	}
	actor.Gates = access.Gates{TeamClosed: closedAt > 0, PausedKinds: paused.PausedKinds, RestoreGuard: paused.RestoreGuard}
	if paused.Paused {
		actor.Gates.PausedKinds = []access.Capability{access.Write, access.Publish, access.Spend}
	}
	actor.Capabilities = slices.DeleteFunc(access.RoleCapabilities(actor.Role), actor.IsPaused)
	return &actor, nil
}
