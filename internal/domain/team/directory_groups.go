package team

import (
	"context"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team/directoryroles"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// managesTeam reports whether the directory manages the members of an invitation's team.
func (i DirectoryIdentity) managesTeam(o Offer) bool {
	_, ok := i.Roles[o.TeamID]
	return ok
}

// acceptableOffers returns the invitations except those to teams whose members the directory manages.
func (i DirectoryIdentity) acceptableOffers(offers []Offer) []Offer {
	return slices.DeleteFunc(slices.Clone(offers), i.managesTeam)
}

// applyRoles gives a person the roles that the directory assigns in the teams whose members it manages. It removes the
// person from such a team if the directory assigns no role. It does not change the role of an owner, and does not
// remove the last operator who can sign in. It returns plan_limit_reached if a team has no free seat.
func (s *Service) applyRoles(ctx context.Context, tx *db.Tx, p Person, roles map[int64]access.Role) error {
	teams, err := directoryroles.DifferingTeams(ctx, tx, p.ID, roles)
	if err != nil {
		return err
	}
	for _, team := range teams { // sorted, so that concurrent sign-ins lock teams in the same order
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
	// An admin may have changed the role before the lock.
	current, err := directoryroles.Memberships(ctx, tx, p.ID, []int64{team})
	if err != nil || len(current) == 0 || current[0].Role == role || current[0].Role == access.Owner {
		return err
	}
	detail := map[string]any{"by": "directory"}
	if role == "" {
		return s.removeByDirectory(ctx, tx, team, p.ID, detail)
	}
	if current[0].Role == "" {
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
		return nil // keep the last operator who can sign in
	}
	if _, err := tx.Exec(ctx, `DELETE FROM memberships WHERE team_id = ? AND person_id = ?`, team, person); err != nil {
		return fmt.Errorf("removing a member: %w", err)
	}
	if err := endAllKeys(ctx, tx, team, person); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "member.removed", formatID(person), detail)
}
