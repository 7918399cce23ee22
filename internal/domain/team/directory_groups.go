package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// hasRole reports whether the directory gives a person a role in any team.
func (i DirectoryIdentity) hasRole() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(i.Roles)), func(r access.Role) bool { return r != "" })
}

// rolesDiffer reports whether a person's roles are not those that the directory gives.
func (s *Service) rolesDiffer(ctx context.Context, q db.Querier, person int64, roles map[int64]access.Role) (bool, error) {
	for team, role := range roles {
		current, err := currentRole(ctx, q, team, person)
		if err != nil {
			return false, err
		}
		if current != role && current != access.Owner {
			return true, nil
		}
	}
	return false, nil
}

func currentRole(ctx context.Context, q db.Querier, team, person int64) (access.Role, error) {
	var role access.Role
	err := q.QueryRow(ctx, `SELECT role FROM memberships WHERE team_id = ? AND person_id = ?`, team, person).Scan(&role)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading a person's role: %w", err)
	}
	return role, nil
}

// applyRoles gives a person the roles of the directory in the teams that have groups, and removes the person from those
// teams without a role. It changes neither the owner of a team nor the last operator who can sign in.
func (s *Service) applyRoles(ctx context.Context, tx *db.Tx, p *directoryPerson, roles map[int64]access.Role) error {
	for _, team := range slices.Sorted(maps.Keys(roles)) { // in order, so that concurrent sign-ins lock teams in the same order
		if err := s.applyRole(ctx, tx, team, p.ID, roles[team]); err != nil {
			return err
		}
	}
	var err error
	p.teams, err = countTeams(ctx, tx, p.ID)
	return err
}

func (s *Service) applyRole(ctx context.Context, tx *db.Tx, team, person int64, role access.Role) error {
	var closed int64
	err := tx.QueryRow(ctx, `SELECT deleted_at FROM teams WHERE id = ?`+s.db.ForUpdate(), team).Scan(&closed)
	if errors.Is(err, sql.ErrNoRows) || closed > 0 {
		return nil // the operator's setting names a team that is gone
	}
	if err != nil {
		return fmt.Errorf("locking a team: %w", err)
	}
	current, err := currentRole(ctx, tx, team, person)
	if err != nil || current == role || current == access.Owner {
		return err
	}
	detail := map[string]any{"by": "directory"}
	if role != "" {
		detail["role"] = role
		if err := setMember(ctx, tx, team, person, role); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "member.set", formatID(person), detail)
	}
	if err := s.Admin(person, team).checkNotLastOperator(ctx, tx, person); err != nil {
		if apierr.FromError(err).Code == apierr.Internal {
			return err
		}
		return nil // the operator could not sign in any more
	}
	if _, err := tx.Exec(ctx, `DELETE FROM memberships WHERE team_id = ? AND person_id = ?`, team, person); err != nil {
		return fmt.Errorf("removing a member: %w", err)
	}
	if err := endAllKeys(ctx, tx, team, person); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "member.removed", formatID(person), detail)
}
