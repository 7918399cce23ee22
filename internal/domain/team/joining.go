package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/passwords"
	"pressroom.example/pressroom/internal/auth/throttle"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// NewMember is a new person who accepts an invitation.
type NewMember struct {
	Name     string
	Password string // empty for a person with another sign-in method
	From     string // identifier of the client; see Attempt.From
	// StoreCredential stores another credential in the transaction that creates the person. It may be nil.
	StoreCredential func(ctx context.Context, tx *db.Tx, person int64) error
}

var errNoSignInMethod = apierr.Invalid(apierr.MissingArgument, "password", "Choose a password or create a passkey.")

// Join creates a person with the email address of an invitation and adds the person to the team. After several failed
// attempts with the same invitation or from the same client, it returns rate_limited.
func (s *SignIns) Join(ctx context.Context, token string, n NewMember) (Person, error) {
	o, err := s.teams.InvitationByToken(ctx, token)
	if err != nil {
		return Person{}, err
	}
	p := Person{Name: strings.TrimSpace(n.Name), Email: o.Email}
	if err := n.check(p); err != nil {
		return p, err
	}
	undo, err := s.countJoin(o.ID, n.From)
	if err != nil {
		return p, err
	}
	p, err = s.createMember(ctx, token, o, p, n)
	if err == nil || apierr.Is(err, apierr.RateLimited) {
		undo()
	}
	return p, err
}

// check returns an error for an invalid name or password.
func (n NewMember) check(p Person) error {
	switch {
	case !names.IsValid(p.Name):
		return errPersonName
	case names.ContainsURL(p.Name):
		return names.ErrURL
	case n.Password != "":
		return passwords.Check(n.Password, p.Name, p.Email)
	case n.StoreCredential == nil:
		return errNoSignInMethod
	}
	return nil
}

// countJoin counts an attempt to join or returns rate_limited. The returned function undoes the count.
func (s *SignIns) countJoin(invitation int64, client string) (func(), error) {
	undoInvitation, wait := s.byInvitation.Count(throttle.NewKey("invitation %d", invitation))
	if wait > 0 {
		return nil, throttle.NewTooManyError(tooManyAttempts, wait)
	}
	undoClient, wait := s.byClientForLinks.Count(throttle.NewKey("join client %s", client))
	if wait > 0 {
		undoInvitation()
		return nil, throttle.NewTooManyError(tooManyAttempts, wait)
	}
	return func() { undoInvitation(); undoClient() }, nil
}

// createMember creates a person and adds the person to the team. It first checks that the email address is free, so
// that no password is hashed for an existing account.
func (s *SignIns) createMember(ctx context.Context, token string, o Offer, p Person, n NewMember) (Person, error) {
	var emailCount int64
	if err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM people WHERE email = ?`, p.Email).Scan(&emailCount); err != nil {
		return p, fmt.Errorf("finding a person with the email address: %w", err)
	}
	if emailCount > 0 {
		return p, errEmailTaken
	}
	hash := ""
	if n.Password != "" {
		var err error
		if hash, err = s.hashPassword(ctx, passwords.InvitationCaller(o.ID), n.Password); err != nil {
			return p, err
		}
	}
	return s.teams.joinAsNew(ctx, token, p, hash, n.StoreCredential)
}

// joinAsNew creates a person with a password hash, and makes the person a member of the invitation's team.
func (s *Service) joinAsNew(
	ctx context.Context, token string, p Person, hash string, storeCredential func(context.Context, *db.Tx, int64) error,
) (Person, error) {
	err := s.change(ctx, "team.join", func(ctx context.Context, tx *db.Tx) error {
		o, err := s.lockOffer(ctx, tx, token)
		if err != nil {
			return err
		}
		if p.ID, err = insertPerson(ctx, tx, p, hash); err != nil {
			return err
		}
		if storeCredential != nil {
			if err := storeCredential(ctx, tx, p.ID); err != nil {
				return err
			}
		}
		if o.Mailed { // Only the owner of the address knows the link.
			if err := s.confirmEmail(ctx, tx, p.ID, "invitation"); err != nil {
				return err
			}
		}
		return s.addMember(ctx, tx, o, p.ID)
	})
	return p, err
}

// insertPerson inserts a person. It returns errEmailTaken if another person has the email address.
func insertPerson(ctx context.Context, tx *db.Tx, p Person, hash string) (int64, error) {
	var person int64
	err := tx.QueryRow(ctx,
		`INSERT INTO people (name, email, password_hash, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (email) DO NOTHING RETURNING id`,
		p.Name, p.Email, hash, db.Micros(tx.Now())).Scan(&person)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, errEmailTaken
	}
	if err != nil {
		return 0, fmt.Errorf("adding a person: %w", err)
	}
	return person, auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "person.added", formatID(person), nil)
}

// Invitee returns the person with an invitation's email address if the password is correct. Unlike SignIn, it accepts a
// person without a team. It does not accept the invitation.
func (s *SignIns) Invitee(ctx context.Context, token string, a Attempt) (Person, error) {
	o, err := s.teams.InvitationByToken(ctx, token)
	if err != nil {
		return Person{}, err
	}
	p, err := s.findAccount(ctx, o.Email)
	if err != nil {
		return Person{}, err
	}
	a.Email = o.Email
	if err := s.checkPassword(ctx, a, p, errJoin); err != nil {
		return Person{}, err
	}
	return p.Person, nil
}

// errJoin does not reveal whether there is an account with the email address.
var errJoin = apierr.New(apierr.Unauthorized,
	"Incorrect password, or no account with this email address. Try again, or create an account.")
