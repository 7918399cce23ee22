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
	"pressroom/internal/teamtime"
)

// Choice is what a new password does with the person's other credentials.
type Choice struct {
	Keep   []string // ids of Credentials that stay; the others are removed
	Revoke []string // IDs from Issued to revoke; others stay valid
}

// Change is the input of ChangePassword.
type Change struct {
	Choice

	Person      int64
	Old, New    string
	NeedsFactor bool // refuse to remove the person's only second factor
}

var errOldPassword = apierr.Invalid(apierr.NotAllowedValue, "old", "Your current password is incorrect.")

// ChangePassword changes a signed-in person's password. It requires the current one if there is one. Wrong ones delay
// the person's next attempt in every browser. All of the person's sessions end; the caller begins a new one with the
// returned person. Unlike a first password, a change also removes every credential that is not kept.
func (s *SignIns) ChangePassword(ctx context.Context, c Change) (Person, error) {
	p, hash, err := s.teams.personAndHash(ctx, c.Person)
	if err != nil {
		return Person{}, err
	}
	if hash != "" {
		tries := []throttle.Try{{Counter: s.own, Key: throttle.NewKey("password of %d", p.ID), Forgets: true, Refusal: wrongPasswords}}
		err := throttle.Guess(ctx, tries, func() error {
			return s.compare(ctx, askingPerson(p.ID), known{Person: p, hash: hash}, c.Old, errSignIn)
		})
		if errors.Is(err, errSignIn) {
			return Person{}, errOldPassword
		}
		if err != nil {
			return Person{}, err
		}
	}
	if err := passwords.Check(c.New, p.Name, p.Email); err != nil {
		return Person{}, err
	}
	made, err := s.hash(ctx, askingPerson(p.ID), c.New)
	if err != nil {
		return Person{}, err
	}
	err = s.teams.change(ctx, "team.change_password", func(ctx context.Context, tx *db.Tx) error {
		if err := setPassword(ctx, tx, &p, made, hash, "person.password_changed"); err != nil || hash == "" {
			return err
		}
		return s.teams.removeOnChange(ctx, tx, c)
	})
	return p, err
}

// personAndHash returns a person who is not suspended, and the password's hash.
func (s *Service) personAndHash(ctx context.Context, person int64) (Person, string, error) {
	p := Person{ID: person}
	var hash string
	err := s.db.QueryRow(ctx, `SELECT name, email, epoch, password_hash FROM people WHERE id = ? AND held_at = 0`,
		person).Scan(&p.Name, &p.Email, &p.Epoch, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return p, "", apierr.Missing()
	}
	if err != nil {
		return p, "", fmt.Errorf("reading a person: %w", err)
	}
	return p, hash, nil
}

// SetProfile changes a person's name, IANA time zone ("" for each team's) and language (BCP 47; "" for the browser's).
func (s *Service) SetProfile(ctx context.Context, person int64, name, zone, language string) error {
	name, zone = strings.TrimSpace(name), strings.TrimSpace(zone)
	switch {
	case !isLine(name):
		return apierr.Invalidf(apierr.Malformed, "name", "You need a name, one line of at most %d characters.", maxLine)
	case holdsAddress(name):
		return errAddress
	case zone != "" && !teamtime.IsZone(zone):
		return errTimezone
	}
	return s.db.InTx(ctx, "team.set_profile", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE people SET name = ?, timezone = ?, language = ? WHERE id = ? AND held_at = 0`, name, zone,
			language, person)
		if err != nil {
			return fmt.Errorf("storing a profile: %w", err)
		}
		if n == 0 {
			return apierr.Missing()
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "person.renamed", id(person), nil)
	})
}

var errChangedMeanwhile = apierr.BadState("changed", "The password was changed in the meantime. Sign in again.")

// setPassword replaces the hash if it is still the given one, and ends all sessions.
func setPassword(ctx context.Context, tx *db.Tx, p *Person, hash, former, kind string) error {
	err := tx.QueryRow(ctx,
		`UPDATE people SET password_hash = ?, epoch = epoch + 1 WHERE id = ? AND password_hash = ? RETURNING epoch`,
		hash, p.ID, former).Scan(&p.Epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return errChangedMeanwhile
	}
	if err != nil {
		return fmt.Errorf("setting a password: %w", err)
	}
	return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: p.ID}, kind, id(p.ID), nil)
}

// EndSessions ends all sessions of a person.
func (s *Service) EndSessions(ctx context.Context, person int64) error {
	return s.db.InTx(ctx, "team.end_sessions", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE people SET epoch = epoch + 1 WHERE id = ?`, person); err != nil {
			return fmt.Errorf("ending a person's sessions: %w", err)
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "person.signed_out_everywhere", id(person), nil)
	})
}

// ErrUnconfirmed is returned instead of making an operator of an account that someone else may have created.
var ErrUnconfirmed = invalid("nobody has proved that this email address belongs to the person with this account, so " +
	"somebody else could use it; have the address confirmed first (by the directory, or by a link that is " +
	"mailed), or " +
	"repeat this with --unconfirmed if you know whose account it is")

// MakeOperator makes a person an operator. It returns ErrUnconfirmed if the email address is not confirmed.
func (s *Service) MakeOperator(ctx context.Context, email string) (Person, error) {
	return s.setOperator(ctx, email, true, true)
}

// SetOperator makes a person an operator, or ends that. It does not check whether the address is
// proved.
func (s *Service) SetOperator(ctx context.Context, email string, on bool, opts ...ChangeOption) (Person, error) {
	return s.setOperator(ctx, email, on, false, opts...)
}

func (s *Service) setOperator(ctx context.Context, email string, on, onlyProved bool, opts ...ChangeOption) (Person, error) {
	p := Person{Email: foldEmail(email), Operator: on}
	err := s.db.InTx(ctx, "team.set_operator", withOptions(opts, func(ctx context.Context, tx *db.Tx) error {
		var was, proved int64
		err := tx.QueryRow(ctx,
			`SELECT id, name, operator, email_proved_at FROM people WHERE email = ?`+s.db.ForUpdate(),
			p.Email).Scan(&p.ID, &p.Name, &was, &proved)
		p.EmailConfirmed = proved > 0
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return invalid("there is no person with this email address")
		case err != nil:
			return fmt.Errorf("looking up an operator: %w", err)
		case was == db.Flag(on):
			return nil // no change, so no event
		case onlyProved && !p.EmailConfirmed:
			return ErrUnconfirmed
		}
		if _, err := tx.Exec(ctx, `UPDATE people SET operator = ? WHERE id = ?`, db.Flag(on), p.ID); err != nil {
			return fmt.Errorf("changing who runs the service: %w", err)
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "person.operator", id(p.ID), map[string]any{"on": on})
	}))
	return p, err
}

// HasPassword reports whether a password is the current one of the person with an email address. It is not a sign-in,
// so it neither causes delays nor is delayed.
func (s *Service) HasPassword(ctx context.Context, email, password string) (bool, error) {
	var hash string
	err := s.db.QueryRow(ctx, `SELECT password_hash FROM people WHERE email = ?`, foldEmail(email)).Scan(&hash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("reading a password hash: %w", err)
	}
	return passwords.Matches(hash, password), nil
}
