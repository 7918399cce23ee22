package team

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// ErrChooseInvitation is returned for a person who signs in with the directory and has open invitations but no team.
var ErrChooseInvitation = apierr.New(apierr.Unauthorized, "You do not belong to a team yet. Choose an invitation to "+
	"accept.")

const openInvitationsQuery = `SELECT i.id, i.email, i.role, COALESCE(b.name, ''), t.id, t.name FROM invitations i
	JOIN teams t ON t.id = i.team_id LEFT JOIN people b ON b.id = i.invited_by
	WHERE i.email = ? AND t.closed_at = 0 AND i.waiting_person = 0 AND ` + OpenInvitation

// OpenInvitationsFor lists the open invitations to an email address, oldest first. The caller must have verified that
// the person owns the address.
func (s *Service) OpenInvitationsFor(ctx context.Context, email string) ([]Offer, error) {
	return s.openInvitationsFor(ctx, s.db, names.NormalizeEmail(email))
}

// InvitationsForDirectory lists the open invitations that a person who signs in with the directory can accept, oldest
// first.
func (s *Service) InvitationsForDirectory(ctx context.Context, identity DirectoryIdentity) ([]Offer, error) {
	all, err := s.OpenInvitationsFor(ctx, identity.Email)
	return identity.acceptableOffers(all), err
}

func (s *Service) openInvitationsFor(ctx context.Context, q db.Querier, email string) ([]Offer, error) {
	out, err := db.All(ctx, q, scanOffer, openInvitationsQuery+` ORDER BY i.id`, email, db.Micros(s.db.Now()))
	if err != nil {
		return nil, fmt.Errorf("listing invitations to an address: %w", err)
	}
	return out, nil
}

func scanOffer(rows *sql.Rows, o *Offer) error {
	return rows.Scan(&o.ID, &o.Email, &o.Role, &o.InvitedBy, &o.TeamID, &o.TeamName)
}

// lockOpenInvitation returns an open invitation to an address and locks its team. It returns not_found if there is no
// such invitation.
func (s *Service) lockOpenInvitation(ctx context.Context, tx *db.Tx, email string, invitation int64) (Offer, error) {
	readOffer := func() (Offer, error) {
		offers, err := db.All(ctx, tx, scanOffer, openInvitationsQuery+` AND i.id = ?`, email, db.Micros(tx.Now()), invitation)
		switch {
		case err != nil:
			return Offer{}, fmt.Errorf("reading an invitation to an address: %w", err)
		case len(offers) == 0:
			return Offer{}, apierr.ItemNotFound()
		}
		return offers[0], nil
	}
	o, err := readOffer()
	if err != nil {
		return o, err
	}
	if _, err := s.lockOwner(ctx, tx, o.TeamID); err != nil {
		return o, err
	}
	return readOffer() // Another transaction may have accepted the invitation before the lock.
}

// AcceptInvitation accepts an open invitation to the person's email address. It returns not_found if the address is not
// confirmed or has no such invitation.
func (s *Service) AcceptInvitation(ctx context.Context, person, invitation int64) (Offer, error) {
	var o Offer
	err := s.change(ctx, "team.accept_open_invitation", func(ctx context.Context, tx *db.Tx) error {
		var email string
		err := tx.QueryRow(ctx, `SELECT email FROM people WHERE id = ? AND held_at = 0 AND email_proved_at > 0`,
			person).Scan(&email)
		if errors.Is(err, sql.ErrNoRows) {
			return apierr.ItemNotFound()
		}
		if err != nil {
			return fmt.Errorf("reading the person who accepts an invitation: %w", err)
		}
		if o, err = s.lockOpenInvitation(ctx, tx, email, invitation); err != nil {
			return err
		}
		return s.join(ctx, tx, &o, person)
	})
	return o, err
}

// reopenInvitations ends each membership that the person got by accepting an invitation while the email address was not
// confirmed, and reopens the invitation, because somebody else may have accepted it. It keeps memberships from emailed
// invitations and memberships that were not created by an invitation. It also keeps ownership, so that no team loses
// its owner.
func (s *Service) reopenInvitations(ctx context.Context, tx *db.Tx, person int64) error {
	if _, err := tx.Exec(ctx,
		`UPDATE invitations SET waiting_person = 0, waiting_since = 0 WHERE waiting_person = ? AND accepted_at = 0`,
		person); err != nil {
		return fmt.Errorf("resetting the pending memberships of a person: %w", err)
	}
	type acceptedInvitation struct {
		invitation, team int64
		role             access.Role
	}
	invitations, err := db.All(ctx, tx, func(rows *sql.Rows, a *acceptedInvitation) error {
		return rows.Scan(&a.invitation, &a.team, &a.role)
	},
		`SELECT i.id, i.team_id, m.role FROM memberships m
		JOIN invitations i ON i.team_id = m.team_id AND i.accepted_by = m.person_id
		WHERE m.person_id = ? AND m.role <> 'owner' AND i.accepted_at > 0 AND i.mailed_at = 0
			AND NOT EXISTS (SELECT 1 FROM invitations l
				WHERE l.team_id = i.team_id AND l.accepted_by = i.accepted_by AND l.id > i.id)
			AND NOT EXISTS (SELECT 1 FROM events e
		WHERE e.team_id = 0 AND e.kind = 'person.email_confirmed' AND e.subject = ? AND e.at <= i.accepted_at)
		ORDER BY i.team_id`, person, formatID(person))
	if err != nil {
		return fmt.Errorf("reading the memberships of an unconfirmed account: %w", err)
	}
	for _, a := range invitations {
		if err := s.reopenInvitation(ctx, tx, person, a.team, a.invitation, a.role); err != nil {
			return err
		}
	}
	return nil
}

// reopenInvitation ends a membership and reopens its invitation. It replaces the token with a random one that nobody
// knows, so that the old link stops working and the invitation can only be accepted after signing in.
func (s *Service) reopenInvitation(ctx context.Context, tx *db.Tx, person, team, invitation int64, role access.Role) error {
	if _, err := s.lockOwner(ctx, tx, team); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM memberships WHERE team_id = ? AND person_id = ?`, team, person); err != nil {
		return fmt.Errorf("ending the membership of an unconfirmed account: %w", err)
	}
	if err := endAllKeys(ctx, tx, team, person); err != nil {
		return err
	}
	hash := apikey.Hash(rand.Text())
	_, err := tx.Exec(ctx,
		`UPDATE invitations AS i
		SET accepted_at = 0, accepted_by = 0, waiting_person = 0, waiting_since = 0, role = ?, token_hash = ?,
		expires_at = ?, invited_by = CASE WHEN `+inviterCanInvite+` THEN i.invited_by ELSE 0 END WHERE i.id = ?`,
		string(role), hash[:], db.Micros(tx.Now().Add(invitationLifetime)), invitation)
	if err != nil {
		return fmt.Errorf("opening an invitation again: %w", err)
	}
	return auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: person}, "member.left", formatID(person),
		map[string]any{"reason": "unconfirmed"})
}
