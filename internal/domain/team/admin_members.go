package team

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/platform/db"
)

var (
	errOwnRole = apierr.BadState("own",
		"You cannot change your own role or remove yourself. Ask another owner or admin.")
	errOwnerRole = apierr.BadState("owner",
		"The owner’s role changes only when the owner transfers ownership.")
	errRuns = apierr.BadState("last_operator",
		"This person is the only operator of this service and has no other team. First make somebody else an "+
			"operator, or add this person to another team.")
	errBadRole = apierr.Invalid(apierr.NotAllowedValue, "role", "Choose one of the roles.")
)

// SetRole changes the role of another member, for the owner and admins. It cannot create owners.
func (h Admin) SetRole(ctx context.Context, person int64, role access.Role) error {
	if !role.Valid() || role == access.Owner {
		return errBadRole
	}
	return h.change(ctx, "member.set", managers, func(ctx context.Context, tx *db.Tx) (done, error) {
		if err := h.other(ctx, tx, person); err != nil {
			return done{}, err
		}
		return done{person, map[string]any{"role": role}}, setMember(ctx, tx, h.team, person, role)
	})
}

// other refuses people who are not members, the caller, and the owner.
func (h Admin) other(ctx context.Context, tx *db.Tx, person int64) error {
	found, err := membersOf(ctx, tx, h.team, person)
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return apierr.Missing()
	case person == h.person:
		return errOwnRole
	case found[0].Role == access.Owner:
		return errOwnerRole
	}
	return nil
}

// Remove takes another member out of the team, for the owner and admins.
func (h Admin) Remove(ctx context.Context, person int64) error {
	return h.change(ctx, "member.removed", managers, func(ctx context.Context, tx *db.Tx) (done, error) {
		if err := h.other(ctx, tx, person); err != nil {
			return done{}, err
		}
		if err := h.mayGo(ctx, tx, person); err != nil {
			return done{}, err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM memberships WHERE team_id = ? AND person_id = ?`, h.team,
			person); err != nil {
			return done{}, fmt.Errorf("removing a member: %w", err)
		}
		return done{subject: person}, loseAll(ctx, tx, h.team, person)
	})
}

// mayGo refuses to remove the last operator who can sign in.
func (h Admin) mayGo(ctx context.Context, tx *db.Tx, person int64) error {
	var runs, others int64
	err := tx.QueryRow(ctx,
		`SELECT (SELECT COUNT(*) FROM people WHERE id = ? AND operator = 1 AND held_at = 0), (SELECT COUNT(*)
		FROM people p WHERE p.operator = 1 AND p.held_at = 0
		AND EXISTS (SELECT 1 FROM memberships m JOIN teams t ON t.id = m.team_id
		WHERE m.person_id = p.id AND t.deleted_at = 0 AND NOT (m.team_id = ? AND m.person_id = ?)))`, person, h.team,
		person).Scan(&runs, &others)
	if err != nil {
		return fmt.Errorf("counting the operators: %w", err)
	}
	if runs > 0 && others == 0 {
		return errRuns
	}
	return nil
}

// TransferOwnership transfers ownership to another member. The former owner becomes an admin, and their keys end.
func (h Admin) TransferOwnership(ctx context.Context, person int64) error {
	return h.change(ctx, "member.set", owners, func(ctx context.Context, tx *db.Tx) (done, error) {
		if err := h.other(ctx, tx, person); err != nil {
			return done{}, err
		}
		if err := handOn(ctx, tx, h.team, h.person); err != nil {
			return done{}, err
		}
		return done{person, map[string]any{"role": access.Owner}}, setMember(ctx, tx, h.team, person, access.Owner)
	})
}

// Member returns one member of a team. It returns not_found for people who are not members.
func (s *Service) Member(ctx context.Context, team, person int64) (Member, error) {
	found, err := membersOf(ctx, s.db, team, person)
	if err != nil {
		return Member{}, err
	}
	if len(found) == 0 {
		return Member{}, apierr.Missing()
	}
	return found[0], nil
}

func membersOf(ctx context.Context, q db.Querier, team, person int64) ([]Member, error) {
	out, err := db.All(ctx, q, scanMember,
		`SELECT p.id, p.name, p.email, m.role, p.email_proved_at FROM memberships m
		JOIN people p ON p.id = m.person_id WHERE m.team_id = ? AND m.person_id = ?`, team, person)
	if err != nil {
		return nil, fmt.Errorf("reading a member: %w", err)
	}
	return out, nil
}

// MemberPage lists at most limit members of a team with IDs above after, by ID.
func (s *Service) MemberPage(ctx context.Context, team, after int64, limit int) ([]Member, error) {
	out, err := db.All(ctx, s.db, scanMember,
		`SELECT p.id, p.name, p.email, m.role, p.email_proved_at FROM memberships m JOIN people p ON p.id = m.person_id
		WHERE m.team_id = ? AND m.person_id > ? ORDER BY m.person_id LIMIT ?`, team, after, limit)
	if err != nil {
		return nil, fmt.Errorf("listing members: %w", err)
	}
	return out, nil
}

// Managers returns the names of a team's owner and admins, at most limit, the owner first.
func (s *Service) Managers(ctx context.Context, team int64, limit int) ([]string, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, name *string) error { return rows.Scan(name) },
		`SELECT p.name FROM memberships m JOIN people p ON p.id = m.person_id WHERE m.team_id = ?
		AND m.role IN ('owner', 'admin') ORDER BY CASE m.role WHEN 'owner' THEN 0 ELSE 1 END, m.person_id LIMIT ?`, team, limit)
	if err != nil {
		return nil, fmt.Errorf("listing owners and admins: %w", err)
	}
	return out, nil
}

// Seats are the places of a team that are taken.
type Seats struct {
	People  int64
	Invited int64 // not yet accepted
	Waiting int64 // accepted, to be confirmed
}

// Total returns the number of seats in use.
func (s Seats) Total() int64 { return s.People + s.Invited + s.Waiting }

// Seats counts them.
func (s *Service) Seats(ctx context.Context, team int64) (Seats, error) {
	var out Seats
	err := s.db.QueryRow(ctx,
		`SELECT (SELECT COUNT(*) FROM memberships
		WHERE team_id = ?), COUNT(*), COUNT(CASE WHEN i.waiting_person > 0 THEN 1 END) FROM invitations i
		WHERE i.team_id = ? AND `+isOpen,
		team, team, db.Micros(s.db.Now())).Scan(&out.People, &out.Invited, &out.Waiting)
	if err != nil {
		return out, fmt.Errorf("counting the seats of team %d: %w", team, err)
	}
	out.Invited -= out.Waiting
	return out, nil
}
