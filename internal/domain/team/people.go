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
	"pressroom.example/pressroom/internal/domain/team/lastoperator"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// CredentialChoice selects the credentials to keep, and the keys and invitations to revoke, when a password changes.
type CredentialChoice struct {
	Keep   []string // IDs from Credentials; other credentials are removed
	Revoke []string // IDs from ListIssued; other issued items stay valid
}

// PasswordChange is the input of ChangePassword.
type PasswordChange struct {
	CredentialChoice

	Person      int64
	Old, New    string // passwords; Old is ignored if the person has no password
	NeedsFactor bool   // whether the person must keep a second factor
}

var errOldPassword = apierr.Invalid(apierr.NotAllowedValue, "old", "Your current password is incorrect.")

// ChangePassword changes a signed-in person's password. It requires the current password if there is one. Wrong
// passwords delay the person's next attempt in all browsers. All sessions of the person end. The caller can start a new
// session with the returned person. ChangePassword removes all credentials that are not kept, unless the person had no
// password.
func (s *SignIns) ChangePassword(ctx context.Context, c PasswordChange) (Person, error) {
	p, hash, err := s.teams.readPersonAndHash(ctx, c.Person)
	if err != nil {
		return Person{}, err
	}
	if hash != "" {
		limits := []throttle.Limit{{Counter: s.byKnownBrowser, Key: throttle.NewKey("password of %d", p.ID), ResetOnSuccess: true,
			Rejection: tooManyPasswords}}
		err := throttle.Attempt(ctx, limits, func() error {
			return s.comparePassword(ctx, passwords.PersonCaller(p.ID), signInAccount{Person: p, hash: hash}, c.Old, errSignIn)
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
	newHash, err := s.hashPassword(ctx, passwords.PersonCaller(p.ID), c.New)
	if err != nil {
		return Person{}, err
	}
	err = s.teams.change(ctx, "team.change_password", func(ctx context.Context, tx *db.Tx) error {
		if err := setPassword(ctx, tx, &p, newHash, hash, "person.password_changed"); err != nil || hash == "" {
			return err
		}
		return s.teams.removeUnkeptCredentials(ctx, tx, c)
	})
	return p, err
}

// readPersonAndHash returns a person and their password hash. It returns not_found for a suspended person.
func (s *Service) readPersonAndHash(ctx context.Context, person int64) (Person, string, error) {
	p := Person{ID: person}
	var hash string
	err := s.db.QueryRow(ctx, `SELECT name, email, epoch, password_hash FROM people WHERE id = ? AND held_at = 0`,
		person).Scan(&p.Name, &p.Email, &p.Epoch, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return p, "", apierr.ItemNotFound()
	}
	if err != nil {
		return p, "", fmt.Errorf("reading a person: %w", err)
	}
	return p, hash, nil
}

// SetProfile changes a person's name, IANA time zone and BCP 47 language. An empty zone means each team's time zone. An
// empty language means the browser's language.
func (s *Service) SetProfile(ctx context.Context, person int64, name, zone, language string) error {
	name, zone = strings.TrimSpace(name), strings.TrimSpace(zone)
	switch {
	case !names.IsValid(name):
		return apierr.Invalidf(apierr.Malformed, "name", "Enter your name: one line of at most %d characters.", names.MaxLength)
	case names.ContainsURL(name):
		return names.ErrURL
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
			return apierr.ItemNotFound()
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "person.renamed", formatID(person), nil)
	})
}

var errPasswordChanged = apierr.BadState("changed", "The password was changed in the meantime. Sign in again.")

// setPassword replaces the password hash and ends all sessions. It returns errPasswordChanged if the stored hash is not
// oldHash.
func setPassword(ctx context.Context, tx *db.Tx, p *Person, newHash, oldHash, kind string) error {
	err := tx.QueryRow(ctx,
		`UPDATE people SET password_hash = ?, epoch = epoch + 1 WHERE id = ? AND password_hash = ? RETURNING epoch`,
		newHash, p.ID, oldHash).Scan(&p.Epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return errPasswordChanged
	}
	if err != nil {
		return fmt.Errorf("setting a password: %w", err)
	}
	return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: p.ID}, kind, formatID(p.ID), nil)
}

// EndSessions ends all of a person's sessions.
func (s *Service) EndSessions(ctx context.Context, person int64) error {
	return s.db.InTx(ctx, "team.end_sessions", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE people SET epoch = epoch + 1 WHERE id = ?`, person); err != nil {
			return fmt.Errorf("ending a person's sessions: %w", err)
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "person.signed_out_everywhere", formatID(person), nil)
	})
}

// ErrUnconfirmed is returned if a person with an unconfirmed address would become an operator, because someone else may
// have created the account.
var ErrUnconfirmed = operatorErrorf("the email address of this account is not confirmed, so somebody else could have created the " +
	"account; have the address confirmed first (by the directory or by an emailed link), or " +
	"repeat this with --unconfirmed if you know whose account it is")

// MakeOperator makes a person an operator. It returns ErrUnconfirmed if the email address is not confirmed.
func (s *Service) MakeOperator(ctx context.Context, email string) (Person, error) {
	return s.setOperator(ctx, email, true, true)
}

// SetOperator sets whether a person is an operator. It does not check whether the address is confirmed.
func (s *Service) SetOperator(ctx context.Context, email string, on bool, opts ...lastoperator.Option) (Person, error) {
	return s.setOperator(ctx, email, on, false, opts...)
}

func (s *Service) setOperator(ctx context.Context, email string, on, requireConfirmed bool, opts ...lastoperator.Option) (Person, error) {
	p := Person{Email: names.NormalizeEmail(email), Operator: on}
	err := s.db.InTx(ctx, "team.set_operator", lastoperator.WithOptions(opts, func(ctx context.Context, tx *db.Tx) error {
		var wasOperator, confirmedAt int64
		err := tx.QueryRow(ctx,
			`SELECT id, name, operator, email_proved_at FROM people WHERE email = ?`+s.db.ForUpdate(),
			p.Email).Scan(&p.ID, &p.Name, &wasOperator, &confirmedAt)
		p.EmailConfirmed = confirmedAt > 0
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return operatorErrorf("no person has this email address")
		case err != nil:
			return fmt.Errorf("looking up an operator: %w", err)
		case wasOperator == db.BoolToInt(on):
			return nil // Nothing changes, so record no event.
		case requireConfirmed && !p.EmailConfirmed:
			return ErrUnconfirmed
		}
		if _, err := tx.Exec(ctx, `UPDATE people SET operator = ? WHERE id = ?`, db.BoolToInt(on), p.ID); err != nil {
			return fmt.Errorf("changing an operator: %w", err)
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "person.operator", formatID(p.ID), map[string]any{"on": on})
	}))
	return p, err
}

// HasPassword reports whether a password is the current password of the person with an email address. Unlike a sign-in,
// it has no rate limit.
func (s *Service) HasPassword(ctx context.Context, email, password string) (bool, error) {
	var hash string
	err := s.db.QueryRow(ctx, `SELECT password_hash FROM people WHERE email = ?`, names.NormalizeEmail(email)).Scan(&hash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("reading a password hash: %w", err)
	}
	return passwords.Matches(hash, password), nil
}
