package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team/lastoperator"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Scope says what a pause applies to.
type Scope string

// The scopes.
const (
	ForService Scope = "service"
	ForTeam    Scope = "team"
	ForKey     Scope = "key"
)

// Pause is an action that the operator paused for the service, a team, a key or a connection.
type Pause struct {
	Scope     Scope              `json:"scope"`
	Target    int64              `json:"target,omitempty"` // ID of the team, key or connection; 0 for the service
	Action    access.PauseAction `json:"action"`
	Reason    string             `json:"reason,omitempty"` // for the operator only
	CreatedAt time.Time          `json:"created_at"`
}

// Pause pauses an action on all nodes within a second, until Resume is called. Repeating it changes only the reason.
func (s *Service) Pause(ctx context.Context, p Pause) error {
	if p.Reason != "" && !names.IsValid(p.Reason) {
		return operatorErrorf("the reason must be one line of at most %d characters", names.MaxLength)
	}
	return s.change(ctx, "team.pause", func(ctx context.Context, tx *db.Tx) error {
		team, err := p.check(ctx, tx)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO pauses (scope, target, action, reason, created_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (scope, target, action) DO UPDATE SET reason = excluded.reason`, string(p.Scope), p.Target,
			string(p.Action), p.Reason, db.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("pausing: %w", err)
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "access.paused", formatID(p.Target),
			map[string]any{"scope": p.Scope, "action": p.Action})
	})
}

// Resume ends a pause.
func (s *Service) Resume(ctx context.Context, p Pause) error {
	return s.change(ctx, "team.resume", func(ctx context.Context, tx *db.Tx) error {
		team, err := p.check(ctx, tx)
		if err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `DELETE FROM pauses WHERE scope = ? AND target = ? AND action = ?`, string(p.Scope),
			p.Target, string(p.Action))
		if err != nil {
			return fmt.Errorf("resuming: %w", err)
		}
		switch {
		case n == 0 && p.Action == access.PauseAPI:
			return operatorErrorf("the API is already on")
		case n == 0:
			return operatorErrorf("this action is not paused")
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "access.resumed", formatID(p.Target),
			map[string]any{"scope": p.Scope, "action": p.Action})
	})
}

// check validates a pause and returns the ID of the affected team, or 0 for the service.
func (p Pause) check(ctx context.Context, q db.Querier) (int64, error) {
	if !slices.Contains([]access.PauseAction{access.PauseAPI, access.PauseEverything, access.PauseSpending,
		access.PausePublishing}, p.Action) ||
		p.Action == access.PauseAPI && p.Scope != ForService {
		return 0,
			operatorErrorf("the action must be everything, spend or publish; the API can be paused only for the whole service")
	}
	var team int64
	var err error
	switch p.Scope {
	case ForService:
		if p.Target != 0 {
			err = sql.ErrNoRows
		}
	case ForTeam:
		err = q.QueryRow(ctx, `SELECT id FROM teams WHERE id = ?`, p.Target).Scan(&team)
	case ForKey:
		err = q.QueryRow(ctx, `SELECT team_id FROM api_keys WHERE id = ? AND revoked_at = 0`, p.Target).Scan(&team)
	default:
		err = sql.ErrNoRows
	}
	if errors.Is(err, sql.ErrNoRows) {
		return 0, operatorErrorf("team or key not found")
	}
	if err != nil {
		return 0, fmt.Errorf("looking up the target of a pause: %w", err)
	}
	return team, nil
}

// Pauses lists all pauses.
func (s *Service) Pauses(ctx context.Context) ([]Pause, error) {
	return db.All(ctx, s.db, func(rows *sql.Rows, p *Pause) error {
		var createdAt int64
		err := rows.Scan(&p.Scope, &p.Target, &p.Action, &p.Reason, &createdAt)
		p.CreatedAt = db.Time(createdAt)
		return err
	}, `SELECT scope, target, action, reason, created_at FROM pauses ORDER BY created_at, scope, target, action`)
}

// SetAccess turns a team's API and tool access on or off, like Admin.SetAccess.
func (s *Service) SetAccess(ctx context.Context, team int64, on bool) error {
	return s.setTeam(ctx, team, "team.access", map[string]any{"on": on}, `access_off_at = ?`, func(now int64) []any {
		return []any{zeroIf(on, now)}
	})
}

// Close closes a team. The team's keys and assistants stop working. No data is deleted.
func (s *Service) Close(ctx context.Context, team int64) error {
	return s.setTeam(ctx, team, "team.closed", nil, `closed_at = ?`, func(now int64) []any { return []any{now} })
}

// Reopen reopens a closed team. It returns an error if the team was deleted.
func (s *Service) Reopen(ctx context.Context, team int64) error {
	switch t, err := s.Team(ctx, team); {
	case apierr.Is(err, apierr.NotFound):
		return operatorErrorf("team not found")
	case err != nil:
		return err
	case t.Deleted:
		return operatorErrorf("this team was deleted and cannot be reopened")
	}
	return s.setTeam(ctx, team, "team.reopened", nil, `closed_at = ?`, func(int64) []any { return []any{0} })
}

// SetSuspended suspends a person's account, or ends the suspension. The assistants of a suspended person stop working,
// and so do the keys and assistants of teams that the person owns.
func (s *Service) SetSuspended(ctx context.Context, person int64, suspended bool, opts ...lastoperator.Option) error {
	return s.change(ctx, "team.hold", lastoperator.WithOptions(opts, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE people SET held_at = ? WHERE id = ?`, zeroIf(!suspended, db.Micros(tx.Now())), person)
		if err != nil {
			return fmt.Errorf("changing a hold: %w", err)
		}
		if n == 0 {
			return operatorErrorf("person not found")
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "person.hold", formatID(person), map[string]any{"held": suspended})
	}))
}

// zeroIf returns 0 if the condition is true, and n otherwise.
func zeroIf(condition bool, n int64) int64 {
	if condition {
		return 0
	}
	return n
}
