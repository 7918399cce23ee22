package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team/directoryroles"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// DirectoryIdentity is the identity of a person that the operator's directory authenticated. Issuer and subject
// identify a person permanently. The directory may reassign an email address (OpenID Connect Core 1.0, section 5.7).
type DirectoryIdentity struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
	Email   string `json:"email"` // verified by the directory
	Name    string `json:"name"`
	// Roles maps each team that the directory manages to the person's role, or to "" if the person is not a member.
	Roles map[int64]access.Role `json:"roles,omitempty"`
}

var (
	errNoDirectoryPerson = apierr.New(apierr.Unauthorized,
		"Nobody has invited your email address yet. Ask an owner or admin of your team for an invitation.")
	errNoGroup = apierr.New(apierr.Unauthorized,
		"None of your directory groups belongs to a team. Ask the administrator of your directory.")
	errOtherIdentity = apierr.New(apierr.Unauthorized,
		"The account with your email address is linked to another person in the directory. Ask the operator of this "+
			"service to check and unlink it.")
)

// directoryPerson is the account for a sign-in with the directory. Its ID is 0 if there is no account.
type directoryPerson struct {
	Person

	issuer, subject string // linked identity; empty if the person is not linked yet
	teams           int64  // number of teams that the person belongs to
}

func (p directoryPerson) matches(identity DirectoryIdentity) bool {
	return p.issuer == identity.Issuer && p.subject == identity.Subject
}

// invitationRef refers to the invitation that a person from the directory accepts.
type invitationRef struct {
	token      string // token of the opened link; may be empty
	invitation int64  // ID that the person chose from OpenInvitationsFor; may be 0
}

// FromDirectory returns the person with an identity that the directory authenticated. It finds the person by issuer and
// subject, or by email address at the first sign-in.
//
// In the teams of identity.Roles, the person first gets the role that the directory assigns, or is removed. A person
// who then does not belong to a team accepts the open invitation with the token, unless the invitation is to one of
// these teams. If the token does not match and there are open invitations, FromDirectory returns ErrChooseInvitation.
// It returns unauthorized if there is no invitation, or if the account with the address is linked to another identity.
//
// If the address was not confirmed before the first sign-in, someone else may have created the account. In that case,
// FromDirectory removes all other sign-in methods. Memberships that the account accepted become open invitations again.
func (s *Service) FromDirectory(ctx context.Context, identity DirectoryIdentity, token string) (Person, error) {
	return s.fromDirectory(ctx, identity, invitationRef{token: token})
}

// JoinFromDirectory is like FromDirectory, but for a person who chose one of the invitations from
// InvitationsForDirectory.
func (s *Service) JoinFromDirectory(ctx context.Context, identity DirectoryIdentity, invitation int64) (Person, error) {
	return s.fromDirectory(ctx, identity, invitationRef{invitation: invitation})
}

func (s *Service) fromDirectory(ctx context.Context, identity DirectoryIdentity, ref invitationRef) (Person, error) {
	identity.Email, identity.Name = names.NormalizeEmail(identity.Email), strings.TrimSpace(identity.Name)
	if identity.Issuer == "" || identity.Subject == "" || !names.IsEmail(identity.Email) {
		return Person{}, errNoDirectoryPerson
	}
	if !names.IsValid(identity.Name) {
		identity.Name = identity.Email
	}
	p, err := s.findLinkedPerson(ctx, s.db, identity, "")
	if err != nil {
		return p.Person, err
	}
	changedTeams, err := directoryroles.DifferingTeams(ctx, s.db, p.ID, identity.Roles)
	if err != nil || p.teams > 0 && !p.Suspended && len(changedTeams) == 0 {
		return p.Person, err
	}
	person, err := s.enterFromDirectory(ctx, identity, ref)
	// A concurrent sign-in may have added the person, so try again.
	if errors.Is(err, errEmailTaken) || errors.Is(err, errNoDirectoryPerson) || errors.Is(err, errNoGroup) {
		person, err = s.enterFromDirectory(ctx, identity, ref)
	}
	return person, err
}

// enterFromDirectory creates or links a person and adds the person to a team if necessary, in one transaction.
func (s *Service) enterFromDirectory(ctx context.Context, identity DirectoryIdentity, ref invitationRef) (Person, error) {
	var p directoryPerson
	var signInErr error
	err := s.change(ctx, "team.enter_from_directory", func(ctx context.Context, tx *db.Tx) error {
		var err error
		if p, err = s.lockPerson(ctx, tx, identity); err != nil {
			return err
		}
		isNew := p.ID == 0
		switch signInErr = nil; {
		case isNew:
			if err := s.addFromDirectory(ctx, tx, &p, identity); err != nil {
				return err
			}
		case p.Suspended:
			return errNoDirectoryPerson
		case p.subject != "" && !p.matches(identity):
			signInErr = errOtherIdentity // Commit the transaction to keep the event.
			return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "person.directory_refused", formatID(p.ID),
				map[string]any{"issuer": identity.Issuer})
		case p.subject == "":
			if err := s.linkExisting(ctx, tx, &p, identity); err != nil {
				return err
			}
		}
		err = s.enterTeam(ctx, tx, p.Person, identity, ref)
		if !isNew && (apierr.Is(err, apierr.Unauthorized) || apierr.Is(err, apierr.PlanLimitReached)) {
			signInErr, err = err, nil // Commit the transaction to keep the link and the roles.
		}
		return err
	})
	if err == nil {
		err = signInErr
	}
	return p.Person, err
}

// lockPerson locks and returns the person who is linked to an identity. If there is none, it locks and returns the
// person with the identity's email address.
func (s *Service) lockPerson(ctx context.Context, tx *db.Tx, identity DirectoryIdentity) (directoryPerson, error) {
	p, err := s.findLinkedPerson(ctx, tx, identity, s.db.ForUpdate())
	if err != nil || p.ID > 0 {
		return p, err
	}
	return s.readDirectoryPerson(ctx, tx, `p.email = ?`+s.db.ForUpdate(), identity.Email)
}

func (s *Service) findLinkedPerson(
	ctx context.Context, q db.Querier, identity DirectoryIdentity, lock string,
) (directoryPerson, error) {
	return s.readDirectoryPerson(ctx, q,
		`p.id = (SELECT person_id FROM directory_identities WHERE issuer = ? AND subject = ?)`+lock, identity.Issuer,
		identity.Subject)
}

func (s *Service) readDirectoryPerson(
	ctx context.Context, q db.Querier, where string, args ...any,
) (directoryPerson, error) {
	var p directoryPerson
	var suspendedAt, confirmedAt int64
	err := q.QueryRow(ctx,
		`SELECT p.id, p.name, p.email, p.epoch, p.held_at, p.email_proved_at FROM people p WHERE `+where, args...).
		Scan(&p.ID, &p.Name, &p.Email, &p.Epoch, &suspendedAt, &confirmedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return directoryPerson{}, nil
	}
	if err != nil {
		return p, fmt.Errorf("looking up a person from the directory: %w", err)
	}
	p.Suspended, p.EmailConfirmed = suspendedAt > 0, confirmedAt > 0
	// A separate statement also sees changes that were committed while this transaction waited for the lock.
	err = q.QueryRow(ctx, `SELECT issuer, subject FROM directory_identities WHERE person_id = ?`, p.ID).Scan(&p.issuer,
		&p.subject)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return p, fmt.Errorf("reading the directory identity of a person: %w", err)
	}
	p.teams, err = countTeams(ctx, q, p.ID)
	return p, err
}

func countTeams(ctx context.Context, q db.Querier, person int64) (int64, error) {
	var n int64
	if err := q.QueryRow(ctx, `SELECT COUNT(*) FROM memberships WHERE person_id = ?`, person).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting a person's teams: %w", err)
	}
	return n, nil
}

// linkExisting links an existing account to an identity. If the account's address is not confirmed, someone else may
// have created the account. In that case, linkExisting first removes all other access to the account.
func (s *Service) linkExisting(ctx context.Context, tx *db.Tx, p *directoryPerson, identity DirectoryIdentity) error {
	if !p.EmailConfirmed {
		if err := s.removeSignInMethods(ctx, tx, &p.Person); err != nil {
			return err
		}
		if err := s.reopenInvitations(ctx, tx, p.ID); err != nil {
			return err
		}
	}
	return s.link(ctx, tx, p, identity)
}

// link links a person to an identity, which also confirms the email address.
func (s *Service) link(ctx context.Context, tx *db.Tx, p *directoryPerson, identity DirectoryIdentity) error {
	if err := insertIdentity(ctx, tx, p.ID, identity); err != nil {
		return err
	}
	err := auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: p.ID}, "person.directory_linked", formatID(p.ID),
		map[string]any{"issuer": identity.Issuer})
	if err != nil {
		return err
	}
	return s.confirmEmail(ctx, tx, p.ID, "directory")
}

// insertIdentity stores the link between a person and an identity. It returns errEmailTaken if a concurrent sign-in
// already stored it.
func insertIdentity(ctx context.Context, tx *db.Tx, person int64, identity DirectoryIdentity) error {
	n, err := tx.Exec(ctx,
		`INSERT INTO directory_identities (issuer, subject, person_id, linked_at) VALUES (?, ?, ?, ?)
		ON CONFLICT DO NOTHING`,
		identity.Issuer, identity.Subject, person, db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("linking a person to the directory: %w", err)
	}
	if n == 0 {
		return errEmailTaken
	}
	return nil
}

// addFromDirectory creates a person who is linked to an identity.
func (s *Service) addFromDirectory(ctx context.Context, tx *db.Tx, p *directoryPerson, identity DirectoryIdentity) error {
	p.Name, p.Email = identity.Name, identity.Email
	var err error
	if p.ID, err = insertPerson(ctx, tx, p.Person, ""); err != nil {
		return err
	}
	return s.link(ctx, tx, p, identity)
}

// enterTeam applies the roles of the directory. If the person then does not belong to a team, it adds the person to the
// team of an invitation, or returns an error if that is not possible.
func (s *Service) enterTeam(ctx context.Context, tx *db.Tx, p Person, identity DirectoryIdentity, ref invitationRef) error {
	if err := s.applyRoles(ctx, tx, p, identity.Roles); err != nil {
		return err
	}
	if teams, err := countTeams(ctx, tx, p.ID); err != nil || teams > 0 {
		return err
	}
	o, err := s.selectOffer(ctx, tx, identity, p.Email, ref)
	if err != nil {
		return err
	}
	return s.join(ctx, tx, &o, p.ID)
}

// selectOffer locks and returns the invitation that the person opened or chose. The invitation must be for this email
// address, and the directory must not manage its team. If there is no such invitation, selectOffer returns
// ErrChooseInvitation if the person can choose another invitation, and otherwise errNoDirectoryPerson or errNoGroup. It
// never selects an invitation that the person has not seen.
func (s *Service) selectOffer(
	ctx context.Context, tx *db.Tx, identity DirectoryIdentity, email string, ref invitationRef,
) (Offer, error) {
	if ref.token != "" {
		if o, err := s.lockOffer(ctx, tx, ref.token); err == nil && o.Email == email && !identity.managesTeam(o) {
			return o, nil
		}
	}
	if ref.invitation > 0 {
		o, err := s.lockOpenInvitation(ctx, tx, email, ref.invitation)
		if !apierr.Is(err, apierr.NotFound) && !identity.managesTeam(o) {
			return o, err
		}
	}
	offers, err := s.openInvitationsFor(ctx, tx, email)
	switch {
	case err != nil:
		return Offer{}, err
	case len(identity.acceptableOffers(offers)) > 0:
		return Offer{}, ErrChooseInvitation
	case len(offers) > 0:
		return Offer{}, errNoGroup
	}
	return Offer{}, errNoDirectoryPerson
}

// Unlink removes the link between a person and the directory, for the operator, and ends the person's sessions. The
// next sign-in from the directory with the address links the person again. Unlink also resets the confirmation of the
// address, because the directory may have reassigned it. The next sign-in therefore removes all other sign-in methods.
func (s *Service) Unlink(ctx context.Context, email string) (Person, error) {
	p := Person{Email: names.NormalizeEmail(email)}
	err := s.db.InTx(ctx, "team.unlink", func(ctx context.Context, tx *db.Tx) error {
		err := tx.QueryRow(ctx, `UPDATE people SET epoch = epoch + 1, email_proved_at = 0
			WHERE email = ? AND EXISTS (SELECT 1 FROM directory_identities d WHERE d.person_id = people.id)
			RETURNING id, name`, p.Email).Scan(&p.ID, &p.Name)
		if errors.Is(err, sql.ErrNoRows) {
			return operatorErrorf("no person with this email address is linked to the directory")
		}
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM directory_identities WHERE person_id = ?`, p.ID)
		}
		if err != nil {
			return fmt.Errorf("unlinking a person from the directory: %w", err)
		}
		if err := invalidateLinks(ctx, tx, p); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "person.directory_unlinked", formatID(p.ID), nil)
	})
	return p, err
}

// invalidateLinks invalidates all emailed links that would confirm a person's address, because the former owner of the
// address may have the emails.
func invalidateLinks(ctx context.Context, tx *db.Tx, p Person) error {
	_, err := tx.Exec(ctx, `DELETE FROM recoveries WHERE person_id = ? AND used_at = 0`, p.ID)
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE email_proofs SET expires_at = created_at WHERE person_id = ? AND used_at = 0`,
			p.ID)
	}
	if err == nil { // Open invitations still work, but no longer confirm the address.
		_, err = tx.Exec(ctx, `UPDATE invitations SET mailed_at = 0 WHERE email = ? AND accepted_at = 0`, p.Email)
	}
	if err != nil {
		return fmt.Errorf("invalidating the links that were emailed to a person: %w", err)
	}
	return nil
}
