package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/passwords"
	"pressroom/internal/auth/throttle"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// Newcomer is a new person who joins with an invitation.
type Newcomer struct {
	Name     string
	Password string // empty for a person with another sign-in method
	From     string // the client's address; see Attempt
	// Also stores another credential in the transaction that creates the person; nil for none.
	Also func(ctx context.Context, tx *db.Tx, person int64) error
}

var errNoWayIn = apierr.Invalid(apierr.MissingArgument, "password", "Choose a password or create a passkey.")

// Join creates a person with the email address of an invitation, as a member of its team. After several failed attempts
// with the same invitation or from the same client it returns rate_limited.
func (s *SignIns) Join(ctx context.Context, token string, n Newcomer) (Person, error) {
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
	p, err = s.joinOnce(ctx, token, o, p, n)
	if err == nil || apierr.Is(err, apierr.RateLimited) {
		undo()
	}
	return p, err
}

// check returns an error for an invalid name or password.
func (n Newcomer) check(p Person) error {
	switch {
	case !isLine(p.Name):
		return errNoPerson
	case holdsAddress(p.Name):
		return errAddress
	case n.Password != "":
		return passwords.Check(n.Password, p.Name, p.Email)
	case n.Also == nil:
		return errNoWayIn
	}
	return nil
}

// countJoin counts an attempt to join, or returns an error. The returned function uncounts it.
func (s *SignIns) countJoin(invitation int64, from string) (func(), error) {
	byLink, wait := s.joins.Count(throttle.NewKey("invitation %d", invitation))
	if wait > 0 {
		return nil, throttle.TooMany(wrongTries, wait)
	}
	byClient, wait := s.links.Count(throttle.NewKey("join client %s", from))
	if wait > 0 {
		byLink()
		return nil, throttle.TooMany(wrongTries, wait)
	}
	return func() { byLink(); byClient() }, nil
}

// joinOnce creates a new person. It looks up the address first, so that holders of a link cannot cause hashing for
// existing accounts.
func (s *SignIns) joinOnce(ctx context.Context, token string, o Offer, p Person, n Newcomer) (Person, error) {
	var taken int64
	if err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM people WHERE email = ?`, p.Email).Scan(&taken); err != nil {
		return p, fmt.Errorf("finding a person with the email address: %w", err)
	}
	if taken > 0 {
		return p, errKnown
	}
	hash := ""
	if n.Password != "" {
		var err error
		if hash, err = s.hash(ctx, askingInvitation(o.ID), n.Password); err != nil {
			return p, err
		}
	}
	return s.teams.joinAsNew(ctx, token, p, hash, n.Also)
}

func (s *Service) joinAsNew(
	ctx context.Context, token string, p Person, hash string, also func(context.Context, *db.Tx, int64) error,
) (Person, error) {
	err := s.change(ctx, "team.join", func(ctx context.Context, tx *db.Tx) error {
		o, err := s.lockOffer(ctx, tx, token)
		if err != nil {
			return err
		}
		if p.ID, err = addInvited(ctx, tx, p, hash); err != nil {
			return err
		}
		if also != nil {
			if err := also(ctx, tx, p.ID); err != nil {
				return err
			}
		}
		if o.Mailed { // only the owner of the address has the link
			if err := s.proveEmail(ctx, tx, p.ID, "invitation"); err != nil {
				return err
			}
		}
		return s.letIn(ctx, tx, o, p.ID)
	})
	return p, err
}

// addInvited creates a person unless the email address is taken.
func addInvited(ctx context.Context, tx *db.Tx, p Person, hash string) (int64, error) {
	var made int64
	err := tx.QueryRow(ctx,
		`INSERT INTO people (name, email, password_hash, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (email) DO NOTHING RETURNING id`,
		p.Name, p.Email, hash, db.Micros(tx.Now())).Scan(&made)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, errKnown
	}
	if err != nil {
		return 0, fmt.Errorf("adding a person: %w", err)
	}
	return made, auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: made}, "person.added", id(made), nil)
}

// Invitee returns the person with an invitation's email address and the given password, even without a team. It does
// not accept the invitation.
func (s *SignIns) Invitee(ctx context.Context, token string, a Attempt) (Person, error) {
	o, err := s.teams.InvitationByToken(ctx, token)
	if err != nil {
		return Person{}, err
	}
	p, err := s.lookUp(ctx, o.Email)
	if err != nil {
		return Person{}, err
	}
	a.Email = o.Email
	if err := s.checkGuess(ctx, a, p, errJoin); err != nil {
		return Person{}, err
	}
	return p.Person, nil
}

// errJoin is the same whether or not the email address is taken.
var errJoin = apierr.New(apierr.Unauthorized,
	"Incorrect password, or no account with this email address. Try again, or create an account.")
