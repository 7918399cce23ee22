package team

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// decides reports whether the directory decides who is in the team of an invitation.
func (i DirectoryIdentity) decides(o Offer) bool {
	_, ok := i.Roles[o.TeamID]
	return ok
}

// acceptable removes the invitations to teams that the directory decides about.
func (i DirectoryIdentity) acceptable(all []Offer) []Offer {
	return slices.DeleteFunc(slices.Clone(all), i.decides)
}

// membership is a person's role in a team, or "" if the person is not a member.
type membership struct {
	team int64
	role access.Role
}

// memberships returns a person's role in each of the teams that exist and are open, ordered by team.
func memberships(ctx context.Context, q db.Querier, person int64, teams []int64) ([]membership, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, m *membership) error { return rows.Scan(&m.team, &m.role) },
		`SELECT t.id, COALESCE(m.role, '') FROM teams t LEFT JOIN memberships m ON m.team_id = t.id AND m.person_id = ?
		WHERE t.closed_at = 0 AND t.id IN (`+db.Placeholders(len(teams))+`) ORDER BY t.id`, db.Args(person, teams)...)
	if err != nil {
		return nil, fmt.Errorf("reading the teams of a person: %w", err)
	}
	return out, nil
}

// differingTeams returns the teams in which a person's role is not the one that the directory gives. The owner of a team
// does not change.
func differingTeams(ctx context.Context, q db.Querier, person int64, roles map[int64]access.Role) ([]int64, error) {
	if len(roles) == 0 {
		return nil, nil
	}
	all, err := memberships(ctx, q, person, slices.Collect(maps.Keys(roles)))
	var out []int64
	for _, m := range all {
		if m.role != roles[m.team] && m.role != access.Owner {
			out = append(out, m.team)
		}
	}
	return out, err
}

// UnknownTeams returns those of the teams that do not exist or are closed.
func (s *Service) UnknownTeams(ctx context.Context, teams []int64) ([]int64, error) {
	if len(teams) == 0 {
		return nil, nil
	}
	open, err := memberships(ctx, s.db, 0, teams)
	return slices.DeleteFunc(slices.Clone(teams), func(team int64) bool {
		return slices.ContainsFunc(open, func(m membership) bool { return m.team == team })
	}), err
}

// applyRoles gives a person the roles of the directory in the teams that have groups, and removes the person from those
// teams without a role. It changes neither the owner of a team nor the last operator who can sign in. It returns
// plan_limit_reached if a team has no seat for a new member.
func (s *Service) applyRoles(ctx context.Context, tx *db.Tx, p Person, roles map[int64]access.Role) error {
	teams, err := differingTeams(ctx, tx, p.ID, roles)
	if err != nil {
		return err
	}
	for _, team := range teams { // in order, so that concurrent sign-ins lock teams in the same order
		if err := s.applyRole(ctx, tx, team, p, roles[team]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) applyRole(ctx context.Context, tx *db.Tx, team int64, p Person, role access.Role) error {
	if _, err := s.lockOwner(ctx, tx, team); err != nil {
		return err
	}
	current, err := memberships(ctx, tx, p.ID, []int64{team}) // an admin may have changed it before the lock
	if err != nil || len(current) == 0 || current[0].role == role || current[0].role == access.Owner {
		return err
	}
	detail := map[string]any{"by": "directory"}
	if role == "" {
		return s.removeByDirectory(ctx, tx, team, p.ID, detail)
	}
	if current[0].role == "" {
		if err := s.checkSeats(ctx, tx, team, false); err != nil {
			return err
		}
		// The person's open invitation to the team would take another seat.
		err := markAccepted(ctx, tx, p.ID, `team_id = ? AND email = ? AND accepted_at = 0 AND revoked_at = 0`, team, p.Email)
		if err != nil {
			return err
		}
	}
	detail["role"] = role
	if err := setMember(ctx, tx, team, p.ID, role); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "member.set", formatID(p.ID), detail)
}

func (s *Service) removeByDirectory(ctx context.Context, tx *db.Tx, team, person int64, detail map[string]any) error {
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
