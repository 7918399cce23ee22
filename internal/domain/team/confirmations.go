package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// confirmationLifetime is how long an owner or admin can confirm a person who accepted an invitation.
const confirmationLifetime = 30 * 24 * time.Hour

// PendingMember is a person who accepted an invitation and waits for confirmation by the owner or an admin.
// Confirmation is necessary because the person's email address is not confirmed.
type PendingMember struct {
	Invitation       int64
	Name             string
	Email            string
	Role             access.Role
	Since            time.Time
	AccountCreatedAt time.Time
}

var errWaiting = apierr.BadState("waiting",
	"An owner or admin of this team must confirm that it is you. You join the team when they do, or when you confirm "+
		"your email address under Your account.")

// awaitConfirmation records that a person accepted an invitation and waits for confirmation.
func (s *Service) awaitConfirmation(ctx context.Context, tx *db.Tx, o *Offer, person int64) error {
	expires := tx.Now().Add(confirmationLifetime)
	_, err := tx.Exec(ctx, `UPDATE invitations SET waiting_person = ?, waiting_since = ?, expires_at = ? WHERE id = ?`,
		person, db.Micros(tx.Now()), db.Micros(expires), o.ID)
	if err != nil {
		return fmt.Errorf("recording a person who waits for confirmation: %w", err)
	}
	o.Waiting = true
	return auditlog.Record(ctx, tx, o.TeamID, auditlog.Actor{PersonID: person}, "invitation.waiting", formatID(o.ID),
		map[string]any{"role": o.Role})
}

// PendingMembers lists the people who wait for confirmation in a team. The person who has waited longest is first.
func (s *Service) PendingMembers(ctx context.Context, team int64) ([]PendingMember, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, m *PendingMember) error {
		var since, createdAt int64
		err := rows.Scan(&m.Invitation, &m.Name, &m.Email, &m.Role, &since, &createdAt)
		m.Since, m.AccountCreatedAt = db.Time(since), db.Time(createdAt)
		return err
	}, `SELECT i.id, p.name, p.email, i.role, i.waiting_since, p.created_at FROM invitations i
		JOIN people p ON p.id = i.waiting_person
		WHERE i.team_id = ? AND i.waiting_person > 0 AND p.held_at = 0 AND `+OpenInvitation+` ORDER BY i.waiting_since, i.id`,
		team, db.Micros(s.db.Now()))
	if err != nil {
		return nil, fmt.Errorf("listing people who wait for confirmation: %w", err)
	}
	return out, nil
}

// ConfirmMember makes a waiting person a member. Only the owner and admins may call it.
func (a Admin) ConfirmMember(ctx context.Context, invitation int64) error {
	return a.change(ctx, "member.confirmed", managerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		o, person, err := a.pendingMember(ctx, tx, invitation)
		if err != nil {
			return auditEntry{}, err
		}
		return auditEntry{subject: person, detail: map[string]any{"role": o.Role}}, a.s.addMember(ctx, tx, o, person)
	})
}

// DeclineMember revokes the invitation of a waiting person. Only the owner and admins may call it.
func (a Admin) DeclineMember(ctx context.Context, invitation int64) error {
	return a.change(ctx, "member.declined", managerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		_, person, err := a.pendingMember(ctx, tx, invitation)
		if err != nil {
			return auditEntry{}, err
		}
		if _, err := tx.Exec(ctx, `UPDATE invitations SET revoked_at = ? WHERE id = ?`, db.Micros(tx.Now()),
			invitation); err != nil {
			return auditEntry{}, fmt.Errorf("declining a waiting person: %w", err)
		}
		return auditEntry{subject: person}, nil
	})
}

// pendingMember returns one of the team's open invitations and the person who accepted it and waits for confirmation.
// It returns not_found if nobody is waiting.
func (a Admin) pendingMember(ctx context.Context, tx *db.Tx, invitation int64) (Offer, int64, error) {
	o, person := Offer{TeamID: a.team}, int64(0)
	err := tx.QueryRow(ctx,
		`SELECT i.id, i.email, i.role, i.waiting_person FROM invitations i
		WHERE i.id = ? AND i.team_id = ? AND i.waiting_person > 0 AND `+OpenInvitation,
		invitation, a.team, db.Micros(tx.Now())).Scan(&o.ID, &o.Email, &o.Role, &person)
	if errors.Is(err, sql.ErrNoRows) {
		return o, 0, apierr.ItemNotFound()
	}
	if err != nil {
		return o, 0, fmt.Errorf("looking up a waiting person: %w", err)
	}
	return o, person, nil
}

// confirmPendingMemberships makes a person a member of all teams where the person waits, because the email address is
// now confirmed. If a team's plan has no free seat, the person keeps waiting.
func (s *Service) confirmPendingMemberships(ctx context.Context, tx *db.Tx, person int64) error {
	offers, err := db.All(ctx, tx, func(rows *sql.Rows, o *Offer) error {
		return rows.Scan(&o.ID, &o.Email, &o.Role, &o.TeamID)
	},
		`SELECT i.id, i.email, i.role, i.team_id FROM invitations i JOIN teams t ON t.id = i.team_id
		WHERE i.waiting_person = ? AND t.closed_at = 0 AND `+OpenInvitation+` ORDER BY i.team_id, i.id`, person,
		db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("reading the pending memberships of a person: %w", err)
	}
	for _, o := range offers {
		if _, err := s.lockOwner(ctx, tx, o.TeamID); err != nil {
			return err
		}
		if err := s.addMember(ctx, tx, o, person); err != nil && !apierr.Is(err, apierr.PlanLimitReached) {
			return err
		}
	}
	return nil
}
