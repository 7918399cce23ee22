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
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// Scope is what a pause applies to.
type Scope string

// The scopes.
const (
	ForService Scope = "service"
	ForTeam    Scope = "team"
	ForKey     Scope = "key"
)

// Pause is something that the operator has stopped, of the whole service or of one team, key or connection.
type Pause struct {
	Scope     Scope              `json:"scope"`
	Target    int64              `json:"target,omitempty"` // id of the team, the key or the connection
	Action    access.PauseAction `json:"action"`
	Reason    string             `json:"reason,omitempty"` // for the operator only
	CreatedAt time.Time          `json:"created_at"`
}

// Pause pauses something until Resume. It applies on every node within a second. Pausing again only changes the reason.
func (s *Service) Pause(ctx context.Context, p Pause) error {
	if p.Reason != "" && !isLine(p.Reason) {
		return invalid("the reason has to be one line of at most %d characters", maxLine)
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
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "access.paused", id(p.Target),
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
			return invalid("the API is on already")
		case n == 0:
			return invalid("this is not paused")
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "access.resumed", id(p.Target),
			map[string]any{"scope": p.Scope, "action": p.Action})
	})
}

// check returns an error if the subject of a pause does not exist, else its team's ID, 0 for all teams.
func (p Pause) check(ctx context.Context, q db.Querier) (int64, error) {
	if !slices.Contains([]access.PauseAction{access.PauseAPI, access.PauseEverything, access.PauseSpending,
		access.PausePublishing}, p.Action) ||
		p.Action == access.PauseAPI && p.Scope != ForService {
		return 0,
			invalid("what can be paused is everything, spend or publish; the API is switched for the whole service")
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
		return 0, invalid("there is no such team or key to pause or resume")
	}
	if err != nil {
		return 0, fmt.Errorf("looking up what to pause: %w", err)
	}
	return team, nil
}

// Pauses lists everything that is paused or switched off.
func (s *Service) Pauses(ctx context.Context) ([]Pause, error) {
	return db.All(ctx, s.db, func(rows *sql.Rows, p *Pause) error {
		var created int64
		err := rows.Scan(&p.Scope, &p.Target, &p.Action, &p.Reason, &created)
		p.CreatedAt = db.Time(created)
		return err
	}, `SELECT scope, target, action, reason, created_at FROM pauses ORDER BY created_at, scope, target, action`)
}

// SetAccess switches API and tool access of a team on or off (the owner's switch).
func (s *Service) SetAccess(ctx context.Context, team int64, on bool) error {
	return s.setTeam(ctx, team, "team.access", map[string]any{"on": on}, `access_off_at = ?`, func(now int64) []any {
		return []any{unless(on, now)}
	})
}

// Close closes a team: its keys and assistants stop working. No data is deleted.
func (s *Service) Close(ctx context.Context, team int64) error {
	return s.setTeam(ctx, team, "team.closed", nil, `closed_at = ?`, func(now int64) []any { return []any{now} })
}

// Reopen opens a closed team again unless it is being deleted.
func (s *Service) Reopen(ctx context.Context, team int64) error {
	switch t, err := s.Team(ctx, team); {
	case apierr.Is(err, apierr.NotFound):
		return invalid("there is no such team")
	case err != nil:
		return err
	case t.Deleted:
		return invalid("this team is deleted; what is gone cannot be opened again")
	}
	return s.setTeam(ctx, team, "team.reopened", nil, `closed_at = ?`, func(int64) []any { return []any{0} })
}

// SetHold suspends a person's account or ends the suspension. A suspended person's assistants do not work, nor do the
// keys and assistants of the teams that the person owns.
func (s *Service) SetHold(ctx context.Context, person int64, held bool, opts ...ChangeOption) error {
	return s.change(ctx, "team.hold", withOptions(opts, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE people SET held_at = ? WHERE id = ?`, unless(!held, db.Micros(tx.Now())), person)
		if err != nil {
			return fmt.Errorf("changing a hold: %w", err)
		}
		if n == 0 {
			return invalid("there is no such person")
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "person.hold", id(person), map[string]any{"held": held})
	}))
}

func unless(not bool, n int64) int64 {
	if not {
		return 0
	}
	return n
}
