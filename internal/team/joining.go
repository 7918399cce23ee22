package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"pressroom/internal/db"
	"pressroom/internal/event"
	"pressroom/internal/fault"
)

// Newcomer is who joins by an invitation without being known yet.
type Newcomer struct {
	Name     string
	Password string // empty for whoever signs in by something else
	// Also keeps what the person signs in by, in the transaction that makes the person; nil for nothing.
	Also func(ctx context.Context, tx *db.Tx, person int64) error
}

var errNoWayIn = fault.Invalid(fault.MissingArgument, "password", "Choose a password, or make a passkey.")

// Join makes a new person with the e-mail address of an invitation and a member of its team.
func (s *SignIns) Join(ctx context.Context, token string, n Newcomer) (Person, error) {
	o, err := s.teams.Invited(ctx, token)
	if err != nil {
		return Person{}, err
	}
	p := Person{Name: strings.TrimSpace(n.Name), Email: o.Email}
	if !isLine(p.Name) {
		return p, errNoPerson
	}
	if holdsAddress(p.Name) {
		return p, errAddress
	}
	hash := ""
	if n.Password != "" || n.Also == nil {
		if n.Password == "" {
			return p, errNoWayIn
		}
		if err := checkPassword(n.Password, p); err != nil {
			return p, err
		}
		if hash, err = s.hash(ctx, n.Password); err != nil {
			return p, err
		}
	}
	return s.teams.joinAsNew(ctx, token, p, hash, n.Also)
}

func (s *Service) joinAsNew(ctx context.Context, token string, p Person, hash string, also func(context.Context, *db.Tx, int64) error) (Person, error) {
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

// addInvited makes a person, where nobody has the e-mail address.
func addInvited(ctx context.Context, tx *db.Tx, p Person, hash string) (int64, error) {
	var made int64
	err := tx.QueryRow(ctx, `INSERT INTO people (name, email, password_hash, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (email) DO NOTHING RETURNING id`,
		p.Name, p.Email, hash, db.Micros(tx.Now())).Scan(&made)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, errKnown
	}
	if err != nil {
		return 0, fmt.Errorf("adding a person: %w", err)
	}
	return made, event.Record(ctx, tx, 0, event.Actor{PersonID: made}, "person.added", id(made), nil)
}

// Invitee returns the person of an invitation's e-mail address who enters the right password, also a person in no team, who
// could not sign in otherwise. The invitation is not accepted yet.
func (s *SignIns) Invitee(ctx context.Context, token string, a Attempt) (Person, error) {
	o, err := s.teams.Invited(ctx, token)
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

// errJoin is the same if nobody has the e-mail address.
var errJoin = fault.New(fault.Unauthorized, "Incorrect password, or no account with this e-mail address. Try again, or create an account.")
