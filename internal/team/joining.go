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
		return s.join(ctx, tx, o, p.ID)
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

// JoinKnown accepts an invitation for the person of its e-mail address who says the password, also where the person is
// in no team yet and could not sign in otherwise.
func (s *SignIns) JoinKnown(ctx context.Context, token string, a Attempt) (Person, error) {
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
	_, err = s.teams.Accept(ctx, token, p.ID)
	return p.Person, err
}

var errJoin = fault.New(fault.Unauthorized, "The password is wrong.")

// errNoDirectoryPerson is what people whom the directory knows and pressroom does not are told.
var errNoDirectoryPerson = fault.New(fault.Unauthorized, "The directory knows you, but nobody has invited your e-mail address here yet. Ask an owner or admin of your team for an invitation.")

// FromDirectory finds the person whom the operator's directory has recognised by an e-mail address. Somebody new, or
// in no team, needs an open invitation to that address: it is accepted, the one of the token where one is given. Anybody
// else is unauthorized.
func (s *Service) FromDirectory(ctx context.Context, email, name, token string) (Person, error) {
	p := Person{Email: foldEmail(email), Name: strings.TrimSpace(name)}
	if !isEmail(p.Email) {
		return p, errNoDirectoryPerson
	}
	if !isLine(p.Name) {
		p.Name = p.Email
	}
	var held, teams int64
	err := s.db.QueryRow(ctx, `SELECT id, name, epoch, held_at, (SELECT COUNT(*) FROM memberships m WHERE m.person_id = p.id) FROM people p WHERE email = ?`, p.Email).
		Scan(&p.ID, &p.Name, &p.Epoch, &held, &teams)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return p, fmt.Errorf("looking up whom the directory knows: %w", err)
	case held > 0:
		return p, errNoDirectoryPerson
	case teams > 0:
		return p, nil
	}
	return s.inviteFromDirectory(ctx, p, token)
}

// inviteFromDirectory lets somebody in by an open invitation.
func (s *Service) inviteFromDirectory(ctx context.Context, p Person, token string) (Person, error) {
	err := s.change(ctx, "team.join_from_directory", func(ctx context.Context, tx *db.Tx) error {
		o, err := s.openTo(ctx, tx, p.Email, token)
		if err != nil {
			return err
		}
		if p.ID == 0 {
			if p.ID, err = addInvited(ctx, tx, p, ""); err != nil {
				return err
			}
		}
		return s.join(ctx, tx, o, p.ID)
	})
	return p, err
}

// openTo is the invitation of a token where it is to this e-mail address, else the oldest open one to it.
func (s *Service) openTo(ctx context.Context, tx *db.Tx, email, token string) (Offer, error) {
	if token != "" {
		if o, err := s.lockOffer(ctx, tx, token); err == nil && o.Email == email {
			return o, nil
		}
	}
	var o Offer
	err := tx.QueryRow(ctx, `SELECT i.id, i.email, i.role, i.team_id FROM invitations i JOIN teams t ON t.id = i.team_id WHERE i.email = ? AND t.closed_at = 0 AND `+isOpen+` ORDER BY i.id LIMIT 1`, email, db.Micros(tx.Now())).
		Scan(&o.ID, &o.Email, &o.Role, &o.TeamID)
	if errors.Is(err, sql.ErrNoRows) {
		return o, errNoDirectoryPerson
	}
	if err != nil {
		return o, fmt.Errorf("looking for an invitation: %w", err)
	}
	_, err = s.lockOwner(ctx, tx, o.TeamID)
	return o, err
}
