package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team/authn"
	"pressroom.example/pressroom/internal/domain/team/lastoperator"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// SetMember sets a person's role in a team. If the person becomes the owner, the former owner becomes an admin, and the
// former owner's keys stop working.
func (s *Service) SetMember(ctx context.Context, team, person int64, role access.Role) error {
	if !role.IsValid() {
		return operatorErrorf("there is no role with this name")
	}
	return s.change(ctx, "team.set_member", func(ctx context.Context, tx *db.Tx) error {
		owner, err := s.lockOwner(ctx, tx, team)
		if err != nil {
			return err
		}
		if owner == person && role != access.Owner {
			return errOwner
		}
		if owner != person && role == access.Owner {
			if err := demoteOwner(ctx, tx, team, owner); err != nil {
				return err
			}
		}
		if err := setMember(ctx, tx, team, person, role); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "member.set", formatID(person), map[string]any{"role": role})
	})
}

var errOwner = operatorErrorf("a team needs an owner: make somebody else the owner first")

// demoteOwner makes the former owner an admin and ends the former owner's keys.
func demoteOwner(ctx context.Context, tx *db.Tx, team, owner int64) error {
	if err := setMember(ctx, tx, team, owner, access.Admin); err != nil {
		return err
	}
	return endKeys(ctx, tx, team, owner, authn.LostOwnership, `kind = 'key'`)
}

// RemoveMember removes a person from a team. The owner cannot be removed.
func (s *Service) RemoveMember(ctx context.Context, team, person int64, opts ...lastoperator.Option) error {
	return s.change(ctx, "team.remove_member", lastoperator.WithOptions(opts, func(ctx context.Context, tx *db.Tx) error {
		owner, err := s.lockOwner(ctx, tx, team)
		if err != nil {
			return err
		}
		if owner == person {
			return errOwner
		}
		n, err := tx.Exec(ctx, `DELETE FROM memberships WHERE team_id = ? AND person_id = ?`, team, person)
		if err != nil {
			return fmt.Errorf("removing a member: %w", err)
		}
		if n == 0 {
			return operatorErrorf("this person is not a member of the team")
		}
		if err := endAllKeys(ctx, tx, team, person); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "member.removed", formatID(person), nil)
	}))
}

// lockOwner locks the team until the transaction ends and returns its owner, or 0 if it has none.
func (s *Service) lockOwner(ctx context.Context, tx *db.Tx, team int64) (int64, error) {
	var owner int64
	if err := tx.QueryRow(ctx, `SELECT id FROM teams WHERE id = ?`+s.db.ForUpdate(), team).Scan(&owner); err != nil {
		return 0, operatorErrorf("team not found")
	}
	err := tx.QueryRow(ctx,
		`SELECT person_id FROM memberships WHERE team_id = ? AND role = 'owner' ORDER BY person_id LIMIT 1`,
		team).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return owner, err
}

// endAllKeys ends all keys and connections of a person who leaves a team.
func endAllKeys(ctx context.Context, tx *db.Tx, team, person int64) error {
	return endKeys(ctx, tx, team, person, authn.LostMembership, `1 = 1`)
}

// endKeys ends the person's keys and connections that match an SQL condition, and stores the reason. It does not
// replace the reason LostMembership.
func endKeys(ctx context.Context, tx *db.Tx, team, person int64, reason, condition string) error {
	_, err := tx.Exec(ctx,
		`UPDATE api_keys SET lost = ? WHERE team_id = ? AND person_id = ? AND revoked_at = 0 AND lost <> ? AND `+condition,
		reason, team, person, authn.LostMembership)
	if err != nil {
		return fmt.Errorf("ending the keys of a person: %w", err)
	}
	return nil
}

// publishingRoles is an SQL list of the roles that can publish.
var publishingRoles = func() string {
	var names []string
	for _, r := range access.Roles() {
		if r.CanPublish() {
			names = append(names, "'"+string(r)+"'")
		}
	}
	return strings.Join(names, ", ")
}()

// disconnectDemoted ends the connections of a person whose new role no longer allows them. See authn.LostRole.
func disconnectDemoted(ctx context.Context, tx *db.Tx, team, person int64, role access.Role) error {
	switch {
	case role == access.Client:
		return endKeys(ctx, tx, team, person, authn.LostRole, `kind = 'assistant'`)
	case !role.CanPublish():
		return endKeys(ctx, tx, team, person, authn.LostRole,
			`kind = 'assistant' AND EXISTS (SELECT 1 FROM memberships m WHERE m.team_id = api_keys.team_id
			AND m.person_id = api_keys.person_id AND m.role IN (`+publishingRoles+`))`)
	}
	return nil
}

// setMember stores a person's role and ends connections that the role does not allow.
func setMember(ctx context.Context, tx *db.Tx, team, person int64, role access.Role) error {
	if err := disconnectDemoted(ctx, tx, team, person, role); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `INSERT INTO memberships (team_id, person_id, role, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (team_id, person_id) DO UPDATE SET role = excluded.role`, team, person, string(role),
		db.Micros(tx.Now()))
	if err != nil {
		return operatorErrorf("team or person not found")
	}
	return nil
}
