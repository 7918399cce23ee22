package team

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// InvitationPath is the path of invitation links. The token follows it.
const InvitationPath = "/invitation/"

// invitationLifetime is how long an invitation can be accepted.
const invitationLifetime = 7 * 24 * time.Hour

// Invitation allows the person with an email address to join a team. It can be accepted once.
type Invitation struct {
	ID        int64       `json:"id"`
	Email     string      `json:"email"`
	Role      access.Role `json:"role"`
	InvitedBy string      `json:"invited_by,omitempty"` // name of a person; empty for the operator
	CreatedAt time.Time   `json:"created_at"`
	ExpiresAt time.Time   `json:"expires_at"`
	Mailed    bool        `json:"mailed,omitempty"` // whether the link was emailed, so that only the owner of the address knows it
}

// Errors of invitations.
var (
	ErrEmail  = apierr.Invalid(apierr.Malformed, "email", "Enter a valid email address.")
	ErrMember = apierr.Invalid(apierr.NotAllowedValue, "email", "This person is already in the team.")
	errRole   = apierr.Invalid(apierr.NotAllowedValue, "role",
		"Choose admin, editor, viewer or client. A team has one owner, who can transfer ownership to a member.")
	ErrSeats = apierr.New(apierr.PlanLimitReached,
		"The team’s plan has no seats left. Open invitations count as seats: revoke one, remove a member or change the plan.").
		With("limit", "seats")
	errNoSeat = apierr.New(apierr.PlanLimitReached,
		"The team’s plan has no seat left. Ask an owner or admin of the team.").With("limit", "seats")
	errInvitationAccepted = apierr.BadState("used", "This invitation was already accepted. Sign in to continue.")
	errInvitationRevoked  = apierr.BadState("revoked", "This invitation was revoked. Ask for a new one.")
	errInvitationExpired  = apierr.BadState("ended", "This invitation has expired. Ask for a new one.")
	errOtherAddress       = apierr.New(apierr.NotFound, "This invitation is for another email address.")
	errTeamClosed         = apierr.BadState("closed", "This team is closed. Nobody can join it.")
	errEmailTaken         = apierr.BadState("known",
		"That did not work. If you have an account with this email address, sign in with it to join. If you cannot "+
			"sign in, ask the operator of this service for a link to set a new password.")
	errPersonName = apierr.Invalidf(apierr.Malformed, "name", "Enter your name, one line of at most %d characters.", names.MaxLength)
	errNotManager = apierr.ItemNotFound()
)

// Invite invites a person to a team. The second result is the token of the link, which is not stored. inviter is the
// owner or an admin, or 0 for the operator. For other people, Invite returns not_found. It replaces an open invitation
// to the same address. It returns plan_limit_reached if members and open invitations use all seats.
func (s *Service) Invite(
	ctx context.Context, inviter, team int64, email string, role access.Role,
) (Invitation, string, error) {
	return s.invite(ctx, inviter, team, Invitation{Email: email, Role: role}, invitationLifetime)
}

func (s *Service) invite(
	ctx context.Context, inviter, team int64, i Invitation, lifetime time.Duration,
) (Invitation, string, error) {
	i.Email = names.NormalizeEmail(i.Email)
	if !names.IsEmail(i.Email) {
		return i, "", ErrEmail
	}
	if !i.Role.IsValid() || i.Role == access.Owner {
		return i, "", errRole
	}
	token := rand.Text()
	err := s.db.InTx(ctx, "team.invite", func(ctx context.Context, tx *db.Tx) error {
		if err := s.lockForInvitation(ctx, tx, inviter, team, i.Email); err != nil {
			return err
		}
		if i.Mailed {
			if err := checkMailLimits(ctx, tx, inviter, team, i.Email); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx,
			`UPDATE invitations SET revoked_at = ?
		WHERE team_id = ? AND email = ? AND accepted_at = 0 AND revoked_at = 0`, db.Micros(tx.Now()), team, i.Email)
		if err != nil {
			return fmt.Errorf("replacing an invitation: %w", err)
		}
		if err := s.checkSeats(ctx, tx, team, true); err != nil {
			return err
		}
		i.CreatedAt, i.ExpiresAt = tx.Now(), tx.Now().Add(lifetime)
		return insertInvitation(ctx, tx, inviter, team, &i, token)
	})
	if err != nil {
		return Invitation{}, "", err
	}
	return i, token, nil
}

func insertInvitation(ctx context.Context, tx *db.Tx, inviter, team int64, i *Invitation, token string) error {
	hash, mailedAt := apikey.Hash(token), int64(0)
	if i.Mailed {
		mailedAt = db.Micros(i.CreatedAt)
	}
	row := tx.QueryRow(ctx,
		`INSERT INTO invitations (team_id, email, role, token_hash, invited_by, created_at, expires_at, mailed_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		team, i.Email, string(i.Role), hash[:], inviter, db.Micros(i.CreatedAt), db.Micros(i.ExpiresAt), mailedAt)
	if err := row.Scan(&i.ID); err != nil {
		return fmt.Errorf("inviting: %w", err)
	}
	return auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: inviter}, "invitation.created", formatID(i.ID),
		map[string]any{"role": i.Role})
}

// lockForInvitation locks the team. It returns an error if the person may not invite or a member has the address.
func (s *Service) lockForInvitation(ctx context.Context, tx *db.Tx, inviter, team int64, email string) error {
	if _, err := s.lockOwner(ctx, tx, team); err != nil {
		return apierr.ItemNotFound()
	}
	if err := checkManages(ctx, tx, inviter, team); err != nil {
		return err
	}
	var n int64
	err := tx.QueryRow(ctx,
		`SELECT COUNT(*) FROM memberships m JOIN people p ON p.id = m.person_id WHERE m.team_id = ? AND p.email = ?`,
		team, email).Scan(&n)
	if err != nil {
		return fmt.Errorf("finding a member: %w", err)
	}
	if n > 0 {
		return ErrMember
	}
	return nil
}

// checkManages returns not_found unless the person is the team's owner, an admin, or 0 for the operator.
func checkManages(ctx context.Context, q db.Querier, person, team int64) error {
	if person == 0 {
		return nil
	}
	var role access.Role
	err := q.QueryRow(ctx, `SELECT role FROM memberships WHERE team_id = ? AND person_id = ?`, team, person).Scan(&role)
	if errors.Is(err, sql.ErrNoRows) || err == nil && role != access.Owner && role != access.Admin {
		return errNotManager
	}
	if err != nil {
		return fmt.Errorf("looking up the role of a person: %w", err)
	}
	return nil
}

// checkSeats returns an error if the plan has no free seat. If includeInvited is set, open invitations use seats.
func (s *Service) checkSeats(ctx context.Context, tx *db.Tx, team int64, includeInvited bool) error {
	var name string
	var planUntil, usedAt, invited int64
	err := tx.QueryRow(ctx, `SELECT t.plan, t.plan_until, (SELECT COUNT(*) FROM memberships m WHERE m.team_id = t.id),
		(SELECT COUNT(*) FROM invitations i WHERE i.team_id = t.id AND `+OpenInvitation+`) FROM teams t WHERE t.id = ?`,
		db.Micros(tx.Now()), team).
		Scan(&name, &planUntil, &usedAt, &invited)
	if err != nil {
		return fmt.Errorf("counting seats: %w", err)
	}
	limitErr := errNoSeat
	if includeInvited {
		usedAt, limitErr = usedAt+invited, ErrSeats
	}
	if seats := s.catalog.PlanInEffect(name, db.Time(planUntil), tx.Now()).Seats; seats != plan.Unlimited && usedAt >= seats {
		return limitErr
	}
	return nil
}

// OpenInvitation is an SQL condition that selects invitations i that can be accepted. Its only placeholder is the
// current time. An invitation also ends when its sender may no longer invite people.
const OpenInvitation = `i.accepted_at = 0 AND i.revoked_at = 0 AND i.expires_at > ? AND ` + inviterCanInvite

// inviterCanInvite is an SQL condition that is true if the sender of an invitation i may still invite people.
const inviterCanInvite = `(i.invited_by = 0 OR EXISTS (SELECT 1 FROM memberships b WHERE b.team_id = i.team_id
	AND b.person_id = i.invited_by AND b.role IN ('owner', 'admin')))`

// Invitations lists a team's open invitations, newest first.
func (s *Service) Invitations(ctx context.Context, team int64) ([]Invitation, error) {
	return db.All(ctx, s.db, func(rows *sql.Rows, i *Invitation) error {
		var createdAt, expiresAt, mailedAt int64
		err := rows.Scan(&i.ID, &i.Email, &i.Role, &i.InvitedBy, &createdAt, &expiresAt, &mailedAt)
		i.CreatedAt, i.ExpiresAt, i.Mailed = db.Time(createdAt), db.Time(expiresAt), mailedAt > 0
		return err
	}, `SELECT i.id, i.email, i.role, COALESCE(p.name, ''), i.created_at, i.expires_at, i.mailed_at
		FROM invitations i LEFT JOIN people p ON p.id = i.invited_by
		WHERE i.team_id = ? AND i.waiting_person = 0 AND `+OpenInvitation+` ORDER BY i.id DESC`, team, db.Micros(s.db.Now()))
}

// Revoke revokes an open invitation. person must be the owner or an admin of the team, or 0 for the operator.
func (s *Service) Revoke(ctx context.Context, person, team, invitation int64) error {
	return s.db.InTx(ctx, "team.revoke_invitation", func(ctx context.Context, tx *db.Tx) error {
		if err := checkManages(ctx, tx, person, team); err != nil {
			return err
		}
		n, err := tx.Exec(ctx,
			`UPDATE invitations SET revoked_at = ? WHERE id = ? AND team_id = ? AND accepted_at = 0 AND revoked_at = 0`,
			db.Micros(tx.Now()), invitation, team)
		if err != nil {
			return fmt.Errorf("revoking an invitation: %w", err)
		}
		if n == 0 {
			return apierr.ItemNotFound()
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: person}, "invitation.revoked", formatID(invitation), nil)
	})
}

// Offer is an invitation with its team, as shown to the invited person.
type Offer struct {
	Invitation

	TeamID   int64
	TeamName string
	Waiting  bool // whether it was accepted and waits for confirmation by the owner or an admin
}

// InvitationByToken returns the invitation with a token. It returns not_found for an unknown token, and wrong_state for
// an invitation that can no longer be accepted.
func (s *Service) InvitationByToken(ctx context.Context, token string) (Offer, error) {
	return s.readOffer(ctx, s.db, token, s.db.Now())
}

// readOffer returns the invitation with a token, or an error if it cannot be accepted.
func (s *Service) readOffer(ctx context.Context, q db.Querier, token string, now time.Time) (Offer, error) {
	hash := apikey.Hash(token)
	var o Offer
	var createdAt, expiresAt, acceptedAt, revokedAt, closedAt, inviterValid, mailedAt, waiting int64
	err := q.QueryRow(ctx,
		`SELECT i.id, i.email, i.role, COALESCE(b.name, ''), i.created_at, i.expires_at, i.accepted_at, i.revoked_at,
		t.id, t.name, t.closed_at,
		CASE WHEN `+inviterCanInvite+` THEN 1 ELSE 0 END, i.mailed_at, i.waiting_person
		FROM invitations i JOIN teams t ON t.id = i.team_id LEFT JOIN people b ON b.id = i.invited_by WHERE i.token_hash = ?`, hash[:]).
		Scan(&o.ID, &o.Email, &o.Role, &o.InvitedBy, &createdAt, &expiresAt, &acceptedAt, &revokedAt, &o.TeamID, &o.TeamName,
			&closedAt, &inviterValid, &mailedAt, &waiting)
	if errors.Is(err, sql.ErrNoRows) {
		return Offer{}, apierr.ItemNotFound()
	}
	if err != nil {
		return Offer{}, fmt.Errorf("reading an invitation: %w", err)
	}
	o.CreatedAt, o.ExpiresAt, o.Mailed = db.Time(createdAt), db.Time(expiresAt), mailedAt > 0
	switch {
	case acceptedAt > 0:
		return Offer{}, errInvitationAccepted
	case revokedAt > 0 || inviterValid == 0:
		return Offer{}, errInvitationRevoked
	case !o.ExpiresAt.After(now):
		return Offer{}, errInvitationExpired
	case closedAt > 0:
		return Offer{}, errTeamClosed
	case waiting > 0:
		return Offer{}, errWaiting
	}
	return o, nil
}

// Accept accepts an invitation to the person's email address. If the address is not confirmed, the person may have to
// wait for confirmation by the owner or an admin. See Offer.Waiting.
func (s *Service) Accept(ctx context.Context, token string, person int64) (Offer, error) {
	var o Offer
	err := s.change(ctx, "team.accept_invitation", func(ctx context.Context, tx *db.Tx) error {
		var err error
		if o, err = s.lockOffer(ctx, tx, token); err != nil {
			return err
		}
		return s.join(ctx, tx, &o, person)
	})
	return o, err
}

// lockOffer reads an invitation and locks its team, so that it is accepted only once and seats are counted correctly.
func (s *Service) lockOffer(ctx context.Context, tx *db.Tx, token string) (Offer, error) {
	o, err := s.readOffer(ctx, tx, token, tx.Now())
	if err != nil {
		return o, err
	}
	if _, err := s.lockOwner(ctx, tx, o.TeamID); err != nil {
		return o, err
	}
	return s.readOffer(ctx, tx, token, tx.Now())
}

// invitee has the properties of a person that determine how the person can accept an invitation.
type invitee struct {
	email          string
	emailConfirmed bool
	isNewAccount   bool // whether the operator created the account and it has no team yet
	isMember       bool // whether the person is already a member of the team
}

// lockInvitee locks and returns a person. It returns not_found for a suspended person.
func (s *Service) lockInvitee(ctx context.Context, tx *db.Tx, team, person int64) (invitee, error) {
	var inv invitee
	var confirmedAt, byOperator, teams, membershipCount int64
	err := tx.QueryRow(ctx,
		`SELECT email, email_proved_at, made_by_operator FROM people WHERE id = ? AND held_at = 0`+s.db.ForUpdate(),
		person).Scan(&inv.email, &confirmedAt, &byOperator)
	if errors.Is(err, sql.ErrNoRows) {
		return inv, apierr.ItemNotFound()
	}
	if err == nil {
		err = tx.QueryRow(ctx,
			`SELECT COUNT(*), COUNT(CASE WHEN team_id = ? THEN 1 END) FROM memberships WHERE person_id = ?`, team,
			person).Scan(&teams, &membershipCount)
	}
	if err != nil {
		return inv, fmt.Errorf("looking up a person who joins: %w", err)
	}
	inv.emailConfirmed, inv.isNewAccount, inv.isMember = confirmedAt > 0, byOperator > 0 && teams == 0, membershipCount > 0
	return inv, nil
}

// join makes an existing person a member, or records that the person waits for confirmation. A person who is already a
// member keeps the role.
func (s *Service) join(ctx context.Context, tx *db.Tx, o *Offer, person int64) error {
	inv, err := s.lockInvitee(ctx, tx, o.TeamID, person)
	if err != nil {
		return err
	}
	if inv.email != o.Email {
		return errOtherAddress
	}
	if o.Mailed {
		if err := s.confirmEmail(ctx, tx, person, "invitation"); err != nil {
			return err
		}
	}
	if !inv.isMember && !inv.isNewAccount && !inv.emailConfirmed && !o.Mailed {
		return s.awaitConfirmation(ctx, tx, o, person)
	}
	return s.addMember(ctx, tx, *o, person)
}

// addMember makes a person a member and marks the invitation as accepted. A person who is already a member keeps the
// role.
func (s *Service) addMember(ctx context.Context, tx *db.Tx, o Offer, person int64) error {
	var membershipCount int64
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM memberships WHERE team_id = ? AND person_id = ?`, o.TeamID,
		person).Scan(&membershipCount); err != nil {
		return fmt.Errorf("finding a member: %w", err)
	}
	if membershipCount == 0 {
		if err := s.checkSeats(ctx, tx, o.TeamID, false); err != nil {
			return err
		}
		if err := setMember(ctx, tx, o.TeamID, person, o.Role); err != nil {
			return err
		}
	}
	if err := markAccepted(ctx, tx, person, `id = ?`, o.ID); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, o.TeamID, auditlog.Actor{PersonID: person}, "invitation.accepted", formatID(o.ID),
		map[string]any{"role": o.Role})
}

// markAccepted marks the invitations that match an SQL condition as accepted by a person.
func markAccepted(ctx context.Context, tx *db.Tx, person int64, condition string, args ...any) error {
	_, err := tx.Exec(ctx, `UPDATE invitations SET accepted_at = ?, accepted_by = ? WHERE `+condition,
		append([]any{db.Micros(tx.Now()), person}, args...)...)
	if err != nil {
		return fmt.Errorf("recording an accepted invitation: %w", err)
	}
	return nil
}
