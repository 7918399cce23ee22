package team

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/auth/passwords"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// RecoveryPath is the path prefix of links that set a new password; the token follows.
const RecoveryPath = "/recovery/"

// recoveryLife is the lifetime of the operator's recovery links.
const recoveryLife = time.Hour

// Recovery is a link with which a person sets a new password once.
type Recovery struct {
	Person    Person    `json:"person"`
	Token     string    `json:"-"` // of the link; not stored
	ExpiresAt time.Time `json:"expires_at"`
}

// Recover creates a link for the person of an email address, for the operator. Earlier links of the person end.
func (s *Service) Recover(ctx context.Context, email string) (Recovery, error) {
	return s.recoverBy(ctx, email, false)
}

// recoverBy creates a link that is shown to the operator or mailed to the person. Only the latter proves the address.
func (s *Service) recoverBy(ctx context.Context, email string, mailed bool) (Recovery, error) {
	r := Recovery{Token: rand.Text()}
	hash := apikey.Hash(r.Token)
	err := s.db.InTx(ctx, "team.recover", func(ctx context.Context, tx *db.Tx) error {
		err := tx.QueryRow(ctx, `SELECT id, name, email FROM people WHERE email = ?`,
			foldEmail(email)).Scan(&r.Person.ID, &r.Person.Name, &r.Person.Email)
		if errors.Is(err, sql.ErrNoRows) {
			return invalid("there is no person with this email address")
		}
		if err != nil {
			return fmt.Errorf("looking up whom to recover: %w", err)
		}
		r.ExpiresAt = tx.Now().Add(recoveryLife)
		if err := saveRecovery(ctx, tx, r, hash[:], mailed); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "person.recovery", id(r.Person.ID),
			map[string]any{"mailed": mailed})
	})
	return r, err
}

// recoveryNotSent is the event of a recovery link that was withdrawn because its mail was not sent.
const recoveryNotSent = "person.recovery_not_sent"

// saveRecovery stores the hash of a link in place of earlier ones.
func saveRecovery(ctx context.Context, tx *db.Tx, r Recovery, hash []byte, mailed bool) error {
	if _, err := tx.Exec(ctx, `DELETE FROM recoveries WHERE person_id = ? AND used_at = 0`, r.Person.ID); err != nil {
		return fmt.Errorf("ending earlier links: %w", err)
	}
	_, err := tx.Exec(ctx,
		`INSERT INTO recoveries (token_hash, person_id, created_at, expires_at, mailed_at) VALUES (?, ?, ?, ?, ?)`,
		hash, r.Person.ID, db.Micros(tx.Now()), db.Micros(r.ExpiresAt), unless(!mailed, db.Micros(tx.Now())))
	if err != nil {
		return fmt.Errorf("storing a link: %w", err)
	}
	return nil
}

// dropRecoveries ends the links of a person that were not used, because the mail with the newest one was not sent.
func (s *Service) dropRecoveries(ctx context.Context, person int64) error {
	return s.db.InTx(ctx, "team.drop_recoveries", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM recoveries WHERE person_id = ? AND used_at = 0`, person); err != nil {
			return fmt.Errorf("ending links: %w", err)
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, recoveryNotSent, id(person), nil)
	})
}

var (
	errRecoveryUsed = apierr.BadState("used",
		"This link has already been used. Ask the operator of this service for a new one.")
	errRecoveryEnded = apierr.BadState("ended", "This link has expired. Ask the operator of this service for a new "+
		"one.")
)

// PersonByRecovery returns the person of a recovery link: not_found for an unknown link or a suspended person,
// wrong_state for one that has ended.
func (s *Service) PersonByRecovery(ctx context.Context, token string) (Person, error) {
	p, _, err := s.personByRecovery(ctx, s.db, token, s.db.Now())
	return p, err
}

func (s *Service) personByRecovery(
	ctx context.Context, q db.Querier, token string, now time.Time,
) (Person, string, error) {
	hash := apikey.Hash(token)
	var p Person
	var former string
	var ends, used int64
	err := q.QueryRow(ctx,
		`SELECT p.id, p.name, p.email, p.epoch, p.password_hash, r.expires_at, r.used_at FROM recoveries r
		JOIN people p ON p.id = r.person_id
		WHERE r.token_hash = ? AND p.held_at = 0`, hash[:]).Scan(&p.ID, &p.Name, &p.Email, &p.Epoch, &former, &ends,
		&used)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Person{}, "", apierr.Missing()
	case err != nil:
		return Person{}, "", fmt.Errorf("reading a link: %w", err)
	case used > 0:
		return Person{}, "", errRecoveryUsed
	case !db.Time(ends).After(now):
		return Person{}, "", errRecoveryEnded
	}
	return p, former, nil
}

// Recover sets a new password with the operator's link. All of the person's sessions end, and every credential that the
// choice does not keep is removed, because an intruder may have added it.
func (s *SignIns) Recover(ctx context.Context, token, password string, choice Choice) (Person, error) {
	p, err := s.teams.PersonByRecovery(ctx, token)
	if err != nil {
		return Person{}, err
	}
	if err := passwords.Check(password, p.Name, p.Email); err != nil {
		return Person{}, err
	}
	made, err := s.hash(ctx, askingPerson(p.ID), password)
	if err != nil {
		return Person{}, err
	}
	err = s.teams.change(ctx, "team.use_recovery", func(ctx context.Context, tx *db.Tx) error {
		now, former, err := s.teams.personByRecovery(ctx, tx, token, tx.Now())
		if err != nil {
			return err
		}
		p = now
		mailed, err := useRecovery(ctx, tx, token)
		if err != nil {
			return err
		}
		if err := setPassword(ctx, tx, &p, made, former, "person.recovered"); err != nil {
			return err
		}
		if err := s.teams.applyChoice(ctx, tx, p.ID, choice); err != nil || !mailed {
			return err
		}
		return s.teams.proveEmail(ctx, tx, p.ID, "recovery")
	})
	return p, err
}

// useRecovery spends a link and reports whether it was mailed.
func useRecovery(ctx context.Context, tx *db.Tx, token string) (bool, error) {
	hash := apikey.Hash(token)
	var mailed int64
	err := tx.QueryRow(ctx,
		`UPDATE recoveries SET used_at = ? WHERE token_hash = ? AND used_at = 0 RETURNING mailed_at`,
		db.Micros(tx.Now()), hash[:]).Scan(&mailed)
	if errors.Is(err, sql.ErrNoRows) {
		return false, errRecoveryUsed
	}
	if err != nil {
		return false, fmt.Errorf("using a link: %w", err)
	}
	return mailed > 0, nil
}
