package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// DirectoryIdentity is a person authenticated by the operator's directory. Issuer and subject identify one person
// permanently; the directory may reassign an email address (OpenID Connect Core 1.0, section 5.7).
type DirectoryIdentity struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
	Email   string `json:"email"` // verified by the directory
	Name    string `json:"name"`
}

var (
	errNoDirectoryPerson = apierr.New(apierr.Unauthorized,
		"Nobody has invited your email address yet. Ask an owner or admin of your team for an invitation.")
	errOtherIdentity = apierr.New(apierr.Unauthorized,
		"The account with your email address is linked to another person in the directory. Ask the operator of this "+
			"service to check and unlink it.")
)

// directoryPerson is the account found for a sign-in with the directory. Its ID is 0 if there is none.
type directoryPerson struct {
	Person

	issuer, subject string // empty if the person is not linked yet
	teams           int64
}

func (p directoryPerson) is(who DirectoryIdentity) bool {
	return p.issuer == who.Issuer && p.subject == who.Subject
}

// joinBy is the invitation with which a person from the directory joins a team.
type joinBy struct {
	token      string // of the opened link; may be empty
	invitation int64  // chosen from OpenOffers; 0 for none
}

// FromDirectory returns the person whom the directory has authenticated: by issuer and subject, or by the confirmed
// email address at the first sign-in. A person who is new, or in no team, accepts the open invitation of the token;
// without a token and with open invitations the error is ErrChooseInvitation. It returns unauthorized for others, and
// if the address belongs to a person with another identity.
//
// At the first sign-in, every other way to sign in as the person is removed unless the address was confirmed before,
// because someone else may have created the account. Memberships accepted by it become open invitations again.
func (s *Service) FromDirectory(ctx context.Context, who DirectoryIdentity, token string) (Person, error) {
	return s.fromDirectory(ctx, who, joinBy{token: token})
}

// JoinFromDirectory is FromDirectory for a person who chose one of OpenOffers.
func (s *Service) JoinFromDirectory(ctx context.Context, who DirectoryIdentity, invitation int64) (Person, error) {
	return s.fromDirectory(ctx, who, joinBy{invitation: invitation})
}

func (s *Service) fromDirectory(ctx context.Context, who DirectoryIdentity, by joinBy) (Person, error) {
	who.Email, who.Name = foldEmail(who.Email), strings.TrimSpace(who.Name)
	if who.Issuer == "" || who.Subject == "" || !isEmail(who.Email) {
		return Person{}, errNoDirectoryPerson
	}
	if !isLine(who.Name) {
		who.Name = who.Email
	}
	p, err := s.linkedTo(ctx, s.db, who, "")
	if err != nil || p.teams > 0 && !p.Held {
		return p.Person, err
	}
	made, err := s.enterFromDirectory(ctx, who, by)
	// another sign-in may have added the person meanwhile
	if errors.Is(err, errKnown) || errors.Is(err, errNoDirectoryPerson) {
		made, err = s.enterFromDirectory(ctx, who, by)
	}
	return made, err
}

// enterFromDirectory links or adds a person, or adds the person to a team, in one transaction.
func (s *Service) enterFromDirectory(ctx context.Context, who DirectoryIdentity, by joinBy) (Person, error) {
	var p directoryPerson
	var refusal error
	err := s.change(ctx, "team.enter_from_directory", func(ctx context.Context, tx *db.Tx) error {
		var err error
		if p, err = s.heldFor(ctx, tx, who); err != nil {
			return err
		}
		switch refusal = nil; {
		case p.ID == 0:
			return s.addFromDirectory(ctx, tx, &p, who, by)
		case p.Held:
			return errNoDirectoryPerson
		case p.subject != "" && !p.is(who):
			refusal = errOtherIdentity // the event stays
			return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "person.directory_refused", id(p.ID),
				map[string]any{"issuer": who.Issuer})
		case p.subject == "":
			if err := s.linkKnown(ctx, tx, &p, who); err != nil {
				return err
			}
		}
		if p.teams > 0 {
			return nil
		}
		err = s.joinFromDirectory(ctx, tx, p.Person, by)
		if errors.Is(err, ErrChooseInvitation) || errors.Is(err, errNoDirectoryPerson) {
			refusal, err = err, nil // the link stays
		}
		return err
	})
	if err == nil {
		err = refusal
	}
	return p.Person, err
}

// heldFor returns and locks the person of an identity, or else of its email address.
func (s *Service) heldFor(ctx context.Context, tx *db.Tx, who DirectoryIdentity) (directoryPerson, error) {
	p, err := s.linkedTo(ctx, tx, who, s.db.ForUpdate())
	if err != nil || p.ID > 0 {
		return p, err
	}
	return s.directoryPerson(ctx, tx, `p.email = ?`+s.db.ForUpdate(), who.Email)
}

func (s *Service) linkedTo(
	ctx context.Context, q db.Querier, who DirectoryIdentity, lock string,
) (directoryPerson, error) {
	return s.directoryPerson(ctx, q,
		`p.id = (SELECT person_id FROM directory_identities WHERE issuer = ? AND subject = ?)`+lock, who.Issuer,
		who.Subject)
}

func (s *Service) directoryPerson(
	ctx context.Context, q db.Querier, where string, args ...any,
) (directoryPerson, error) {
	var p directoryPerson
	var held, proved int64
	err := q.QueryRow(ctx,
		`SELECT p.id, p.name, p.email, p.epoch, p.held_at, p.email_proved_at FROM people p WHERE `+where, args...).
		Scan(&p.ID, &p.Name, &p.Email, &p.Epoch, &held, &proved)
	if errors.Is(err, sql.ErrNoRows) {
		return directoryPerson{}, nil
	}
	if err != nil {
		return p, fmt.Errorf("looking up whom the directory knows: %w", err)
	}
	p.Held, p.EmailConfirmed = held > 0, proved > 0
	// A separate statement sees what was committed before the row was unlocked.
	err = q.QueryRow(ctx, `SELECT issuer, subject FROM directory_identities WHERE person_id = ?`, p.ID).Scan(&p.issuer,
		&p.subject)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return p, fmt.Errorf("looking up who a person is in the directory: %w", err)
	}
	p.teams, err = teamsOf(ctx, q, p.ID)
	return p, err
}

func teamsOf(ctx context.Context, q db.Querier, person int64) (int64, error) {
	var n int64
	if err := q.QueryRow(ctx, `SELECT COUNT(*) FROM memberships WHERE person_id = ?`, person).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting a person's teams: %w", err)
	}
	return n, nil
}

// linkKnown links an existing account. Unless the address was confirmed, someone else may have created it.
func (s *Service) linkKnown(ctx context.Context, tx *db.Tx, p *directoryPerson, who DirectoryIdentity) error {
	if !p.EmailConfirmed {
		if err := s.removeSignIns(ctx, tx, &p.Person); err != nil {
			return err
		}
		if err := s.reofferMemberships(ctx, tx, p.ID); err != nil {
			return err
		}
	}
	return s.link(ctx, tx, p, who)
}

// link ties a person to an identity, which proves the email address.
func (s *Service) link(ctx context.Context, tx *db.Tx, p *directoryPerson, who DirectoryIdentity) error {
	if err := keepIdentity(ctx, tx, p.ID, who); err != nil {
		return err
	}
	err := auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: p.ID}, "person.directory_linked", id(p.ID),
		map[string]any{"issuer": who.Issuer})
	if err != nil {
		return err
	}
	if err := s.proveEmail(ctx, tx, p.ID, "directory"); err != nil {
		return err
	}
	p.teams, err = teamsOf(ctx, tx, p.ID)
	return err
}

// keepIdentity stores a person's identity in the directory. It returns errKnown if a concurrent sign-in was first.
func keepIdentity(ctx context.Context, tx *db.Tx, person int64, who DirectoryIdentity) error {
	n, err := tx.Exec(ctx,
		`INSERT INTO directory_identities (issuer, subject, person_id, linked_at) VALUES (?, ?, ?, ?)
		ON CONFLICT DO NOTHING`,
		who.Issuer, who.Subject, person, db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("linking a person to the directory: %w", err)
	}
	if n == 0 {
		return errKnown
	}
	return nil
}

// addFromDirectory creates a person who has an open invitation.
func (s *Service) addFromDirectory(
	ctx context.Context, tx *db.Tx, p *directoryPerson, who DirectoryIdentity, by joinBy,
) error {
	p.Name, p.Email = who.Name, who.Email
	o, err := s.offerTo(ctx, tx, p.Email, by)
	if err != nil {
		return err
	}
	if p.ID, err = addInvited(ctx, tx, p.Person, ""); err != nil {
		return err
	}
	if err := s.link(ctx, tx, p, who); err != nil {
		return err
	}
	return s.join(ctx, tx, &o, p.ID)
}

// joinFromDirectory adds a person without a team to the team of an open invitation.
func (s *Service) joinFromDirectory(ctx context.Context, tx *db.Tx, p Person, by joinBy) error {
	o, err := s.offerTo(ctx, tx, p.Email, by)
	if err != nil {
		return err
	}
	return s.join(ctx, tx, &o, p.ID)
}

// offerTo returns the invitation that the person opened or chose, if it is to this email address, and locks its team.
// Without one nobody joins: the person may not know the team of an invitation that they never saw.
func (s *Service) offerTo(ctx context.Context, tx *db.Tx, email string, by joinBy) (Offer, error) {
	if by.token != "" {
		if o, err := s.lockOffer(ctx, tx, by.token); err == nil && o.Email == email {
			return o, nil
		}
	}
	if by.invitation > 0 {
		if o, err := s.lockOpen(ctx, tx, email, by.invitation); !apierr.Is(err, apierr.NotFound) {
			return o, err
		}
	}
	open, err := db.All(ctx, tx, scanOpen, openTo+` LIMIT 1`, email, db.Micros(tx.Now()))
	switch {
	case err != nil:
		return Offer{}, fmt.Errorf("finding an invitation: %w", err)
	case len(open) == 0:
		return Offer{}, errNoDirectoryPerson
	}
	return Offer{}, ErrChooseInvitation
}

// Unlink removes a person's identity in the directory, for the operator, and ends the person's sessions. The next
// sign-in with the address links it again. The address is no longer confirmed, so that sign-in also removes every other
// way to sign in: the address may have been reassigned.
func (s *Service) Unlink(ctx context.Context, email string) (Person, error) {
	p := Person{Email: foldEmail(email)}
	err := s.db.InTx(ctx, "team.unlink", func(ctx context.Context, tx *db.Tx) error {
		err := tx.QueryRow(ctx, `UPDATE people SET epoch = epoch + 1, email_proved_at = 0
			WHERE email = ? AND EXISTS (SELECT 1 FROM directory_identities d WHERE d.person_id = people.id)
			RETURNING id, name`, p.Email).Scan(&p.ID, &p.Name)
		if errors.Is(err, sql.ErrNoRows) {
			return invalid("no person with this email address is linked to the directory")
		}
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM directory_identities WHERE person_id = ?`, p.ID)
		}
		if err != nil {
			return fmt.Errorf("unlinking a person from the directory: %w", err)
		}
		if err := endProofs(ctx, tx, p); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "person.directory_unlinked", id(p.ID), nil)
	})
	return p, err
}

// endProofs has no link that was mailed before prove a person's address: its former holder may have the mail.
func endProofs(ctx context.Context, tx *db.Tx, p Person) error {
	_, err := tx.Exec(ctx, `DELETE FROM recoveries WHERE person_id = ? AND used_at = 0`, p.ID)
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE email_proofs SET expires_at = created_at WHERE person_id = ? AND used_at = 0`,
			p.ID)
	}
	if err == nil { // the invitation stays, as one that was not mailed
		_, err = tx.Exec(ctx, `UPDATE invitations SET mailed_at = 0 WHERE email = ? AND accepted_at = 0`, p.Email)
	}
	if err != nil {
		return fmt.Errorf("ending the links that were mailed to a person: %w", err)
	}
	return nil
}
