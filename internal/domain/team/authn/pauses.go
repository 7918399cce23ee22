package authn

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

// KeyGates holds the conditions that block all of a team's keys.
type KeyGates struct {
	Off            bool                 // whether the owner turned access off
	NoKeys         bool                 // whether the plan does not include API keys
	OwnerSuspended bool                 // whether the owner's account is suspended
	Paused         []access.PauseAction // actions that the operator paused for the team or service
}

// Any reports whether any condition blocks the keys.
func (g KeyGates) Any() bool { return g.Off || g.NoKeys || g.OwnerSuspended || len(g.Paused) > 0 }

// KeyGates returns the conditions that block a team's keys.
func (a *Authenticator) KeyGates(ctx context.Context, team int64) (KeyGates, error) {
	var g KeyGates
	var planID string
	var planUntil, offAt, ownerHeldAt int64
	err := a.db.QueryRow(ctx, `SELECT plan, plan_until, access_off_at,
		(SELECT COUNT(*) FROM memberships o JOIN people h ON h.id = o.person_id
		WHERE o.team_id = t.id AND o.role = 'owner' AND h.held_at > 0)
		FROM teams t WHERE id = ?`, team).Scan(&planID, &planUntil, &offAt, &ownerHeldAt)
	if err != nil {
		return g, fmt.Errorf("reading the key gates of team %d: %w", team, err)
	}
	g.Off, g.OwnerSuspended, g.NoKeys = offAt > 0, ownerHeldAt > 0, !a.catalog.PlanInEffect(planID, db.Time(planUntil),
		a.db.Now()).APIKeys
	g.Paused, err = db.All(ctx, a.db, func(rows *sql.Rows, paused *access.PauseAction) error { return rows.Scan(paused) },
		`SELECT DISTINCT action FROM pauses WHERE scope = 'service' OR scope = 'team' AND target = ? ORDER BY action`,
		team)
	if err != nil {
		return g, fmt.Errorf("reading the pauses of team %d: %w", team, err)
	}
	return g, nil
}

// readPauses returns the pauses that apply to a team and key. If key is 0, it omits the pauses of individual keys.
func readPauses(ctx context.Context, q db.Querier, team, key int64) (access.Gates, error) {
	var g access.Gates
	actions, err := db.All(ctx, q, func(rows *sql.Rows, a *access.PauseAction) error { return rows.Scan(a) },
		`SELECT action FROM pauses
		WHERE scope = 'service' OR (scope = 'team' AND target = ?) OR (scope = 'key' AND target = ?)`, team, key)
	if err != nil {
		return g, fmt.Errorf("reading pauses: %w", err)
	}
	for _, a := range actions {
		switch a {
		case access.PauseAPI:
			g.APIOff = true
		case access.PauseEverything:
			g.Paused = true
		case access.PauseSpending:
			g.PausedKinds = append(g.PausedKinds, access.Spend)
		case access.PausePublishing:
			g.PausedKinds = append(g.PausedKinds, access.Publish)
		}
	}
	guard, err := restoreguard.Read(ctx, q)
	if g.RestoreGuard = guard.IsHeld(); g.RestoreGuard {
		g.PausedKinds = append(g.PausedKinds, access.Publish, access.Spend)
	}
	return g, err
}
