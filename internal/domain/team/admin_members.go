package team

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

var (
	errOwnRole = apierr.BadState("own",
		"You cannot change your own role or remove yourself. Ask another owner or admin.")
	errOwnerRole          = apierr.BadState("owner", "The owner’s role changes only when the owner transfers ownership.")
	errLastOperatorMember = apierr.BadState("last_operator",
		"This person is the only operator of this service and has no other team. First make somebody else an "+
			"operator, or add this person to another team.")
	errUnknownRole = apierr.Invalid(apierr.NotAllowedValue, "role", "Choose one of the roles.")
)

// SetRole changes the role of another member. Only the owner and admins may call it. The new role cannot be owner.
func (a Admin) SetRole(ctx context.Context, person int64, role access.Role) error {
	if !role.IsValid() || role == access.Owner {
		return errUnknownRole
	}
	return a.change(ctx, "member.set", managerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		if err := a.checkOtherMember(ctx, tx, person); err != nil {
			return auditEntry{}, err
		}
		return auditEntry{person, map[string]any{"role": role}}, setMember(ctx, tx, a.team, person, role)
	})
}

// checkOtherMember returns an error unless person is a member other than the caller and the owner.
func (a Admin) checkOtherMember(ctx context.Context, tx *db.Tx, person int64) error {
	members, err := findMembers(ctx, tx, a.team, person)
	switch {
	case err != nil:
		return err
	case len(members) == 0:
		return apierr.ItemNotFound()
	case person == a.person:
		return errOwnRole
	case members[0].Role == access.Owner:
		return errOwnerRole
	}
	return nil
}

// Remove removes another member from the team. Only the owner and admins may call it.
func (a Admin) Remove(ctx context.Context, person int64) error {
	return a.change(ctx, "member.removed", managerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		if err := a.checkOtherMember(ctx, tx, person); err != nil {
			return auditEntry{}, err
		}
		if err := a.checkNotLastOperator(ctx, tx, person); err != nil {
			return auditEntry{}, err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM memberships WHERE team_id = ? AND person_id = ?`, a.team,
			person); err != nil {
			return auditEntry{}, fmt.Errorf("removing a member: %w", err)
		}
		return auditEntry{subject: person}, endAllKeys(ctx, tx, a.team, person)
	})
}

// checkNotLastOperator returns an error if a person is the only operator who can sign in and has no other team.
func (a Admin) checkNotLastOperator(ctx context.Context, tx *db.Tx, person int64) error {
	var isOperator, otherOperators int64
	err := tx.QueryRow(ctx,
		`SELECT (SELECT COUNT(*) FROM people WHERE id = ? AND operator = 1 AND held_at = 0), (SELECT COUNT(*)
		FROM people p WHERE p.operator = 1 AND p.held_at = 0
		AND EXISTS (SELECT 1 FROM memberships m JOIN teams t ON t.id = m.team_id
		WHERE m.person_id = p.id AND t.deleted_at = 0 AND NOT (m.team_id = ? AND m.person_id = ?)))`, person, a.team,
		person).Scan(&isOperator, &otherOperators)
	if err != nil {
		return fmt.Errorf("counting the operators: %w", err)
	}
	if isOperator > 0 && otherOperators == 0 {
		return errLastOperatorMember
	}
	return nil
}

// TransferOwnership makes another member the owner. The former owner becomes an admin, and the former owner's keys stop
// working. Only the owner may call it.
func (a Admin) TransferOwnership(ctx context.Context, person int64) error {
	return a.change(ctx, "member.set", ownerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		if err := a.checkOtherMember(ctx, tx, person); err != nil {
			return auditEntry{}, err
		}
		if err := demoteOwner(ctx, tx, a.team, a.person); err != nil {
			return auditEntry{}, err
		}
		return auditEntry{person, map[string]any{"role": access.Owner}}, setMember(ctx, tx, a.team, person, access.Owner)
	})
}

// Member returns one member of a team. It returns not_found for people who are not members.
func (s *Service) Member(ctx context.Context, team, person int64) (Member, error) {
	members, err := findMembers(ctx, s.db, team, person)
	if err != nil {
		return Member{}, err
	}
	if len(members) == 0 {
		return Member{}, apierr.ItemNotFound()
	}
	return members[0], nil
}

func findMembers(ctx context.Context, q db.Querier, team, person int64) ([]Member, error) {
	out, err := db.All(ctx, q, scanMember,
		`SELECT p.id, p.name, p.email, m.role, p.email_proved_at FROM memberships m
		JOIN people p ON p.id = m.person_id WHERE m.team_id = ? AND m.person_id = ?`, team, person)
	if err != nil {
		return nil, fmt.Errorf("reading a member: %w", err)
	}
	return out, nil
}

// MemberPage lists at most limit of a team's members whose person IDs are greater than afterID, sorted by ID.
func (s *Service) MemberPage(ctx context.Context, team, afterID int64, limit int) ([]Member, error) {
	out, err := db.All(ctx, s.db, scanMember,
		`SELECT p.id, p.name, p.email, m.role, p.email_proved_at FROM memberships m JOIN people p ON p.id = m.person_id
		WHERE m.team_id = ? AND m.person_id > ? ORDER BY m.person_id LIMIT ?`, team, afterID, limit)
	if err != nil {
		return nil, fmt.Errorf("listing members: %w", err)
	}
	return out, nil
}

// Managers returns the names of a team's owner and admins, at most limit names. The owner is first.
func (s *Service) Managers(ctx context.Context, team int64, limit int) ([]string, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, name *string) error { return rows.Scan(name) },
		`SELECT p.name FROM memberships m JOIN people p ON p.id = m.person_id WHERE m.team_id = ?
		AND m.role IN ('owner', 'admin') ORDER BY CASE m.role WHEN 'owner' THEN 0 ELSE 1 END, m.person_id LIMIT ?`, team, limit)
	if err != nil {
		return nil, fmt.Errorf("listing owners and admins: %w", err)
	}
	return out, nil
}

// Seats counts a team's used seats.
type Seats struct {
	People  int64 // members
	Invited int64 // open invitations that nobody has accepted
	Waiting int64 // accepted invitations that wait for confirmation
}

// Total returns the number of seats in use.
func (s Seats) Total() int64 { return s.People + s.Invited + s.Waiting }

// Seats returns a team's used seats.
func (s *Service) Seats(ctx context.Context, team int64) (Seats, error) {
	var out Seats
	err := s.db.QueryRow(ctx,
		`SELECT (SELECT COUNT(*) FROM memberships
		WHERE team_id = ?), COUNT(*), COUNT(CASE WHEN i.waiting_person > 0 THEN 1 END) FROM invitations i
		WHERE i.team_id = ? AND `+OpenInvitation,
		team, team, db.Micros(s.db.Now())).Scan(&out.People, &out.Invited, &out.Waiting)
	if err != nil {
		return out, fmt.Errorf("counting the seats of team %d: %w", team, err)
	}
	out.Invited -= out.Waiting
	return out, nil
}
