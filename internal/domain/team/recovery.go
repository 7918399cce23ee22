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
	"pressroom.example/pressroom/internal/auth/passwords"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// RecoveryPath is the path of links that set a new password. The token follows it.
const RecoveryPath = "/recovery/"

// recoveryLifetime is the lifetime of the operator's recovery links.
const recoveryLifetime = time.Hour

// Recovery is a link that lets a person set a new password once.
type Recovery struct {
	Person    Person    `json:"person"`
	Token     string    `json:"-"` // token of the link; not stored
	ExpiresAt time.Time `json:"expires_at"`
}

// Recover creates a recovery link for the person with an email address, for the operator. It deletes the person's
// earlier links.
func (s *Service) Recover(ctx context.Context, email string) (Recovery, error) {
	return s.createRecovery(ctx, email, false)
}

// createRecovery creates a recovery link. If mailed is set, the link is emailed to the person, and using it confirms
// the email address. Otherwise, the link is shown to the operator.
func (s *Service) createRecovery(ctx context.Context, email string, mailed bool) (Recovery, error) {
	r := Recovery{Token: rand.Text()}
	hash := apikey.Hash(r.Token)
	err := s.db.InTx(ctx, "team.recover", func(ctx context.Context, tx *db.Tx) error {
		err := tx.QueryRow(ctx, `SELECT id, name, email FROM people WHERE email = ?`,
			names.NormalizeEmail(email)).Scan(&r.Person.ID, &r.Person.Name, &r.Person.Email)
		if errors.Is(err, sql.ErrNoRows) {
			return operatorErrorf("no person has this email address")
		}
		if err != nil {
			return fmt.Errorf("looking up the person to recover: %w", err)
		}
		r.ExpiresAt = tx.Now().Add(recoveryLifetime)
		if err := insertRecovery(ctx, tx, r, hash[:], mailed); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "person.recovery", formatID(r.Person.ID),
			map[string]any{"mailed": mailed})
	})
	return r, err
}

// recoveryNotSent is the kind of the audit event for a recovery link whose email was not sent.
const recoveryNotSent = "person.recovery_not_sent"

// insertRecovery stores the hash of a link's token and deletes the person's earlier unused links.
func insertRecovery(ctx context.Context, tx *db.Tx, r Recovery, hash []byte, mailed bool) error {
	if _, err := tx.Exec(ctx, `DELETE FROM recoveries WHERE person_id = ? AND used_at = 0`, r.Person.ID); err != nil {
		return fmt.Errorf("ending earlier links: %w", err)
	}
	_, err := tx.Exec(ctx,
		`INSERT INTO recoveries (token_hash, person_id, created_at, expires_at, mailed_at) VALUES (?, ?, ?, ?, ?)`,
		hash, r.Person.ID, db.Micros(tx.Now()), db.Micros(r.ExpiresAt), zeroIf(!mailed, db.Micros(tx.Now())))
	if err != nil {
		return fmt.Errorf("storing a link: %w", err)
	}
	return nil
}

// deleteRecoveries deletes a person's unused links, because the email with the latest link was not sent.
func (s *Service) deleteRecoveries(ctx context.Context, person int64) error {
	return s.db.InTx(ctx, "team.drop_recoveries", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM recoveries WHERE person_id = ? AND used_at = 0`, person); err != nil {
			return fmt.Errorf("ending links: %w", err)
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, recoveryNotSent, formatID(person), nil)
	})
}

var (
	errRecoveryUsed = apierr.BadState("used",
		"This link has already been used. Ask the operator of this service for a new one.")
	errRecoveryExpired = apierr.BadState("ended", "This link has expired. Ask the operator of this service for a new "+
		"one.")
)

// PersonByRecovery returns the person of a recovery link. It returns not_found for an unknown link or a suspended
// person, and wrong_state for a link that was used or has expired.
func (s *Service) PersonByRecovery(ctx context.Context, token string) (Person, error) {
	p, _, err := s.personByRecovery(ctx, s.db, token, s.db.Now())
	return p, err
}

// personByRecovery is like PersonByRecovery, and also returns the hash of the person's current password.
func (s *Service) personByRecovery(
	ctx context.Context, q db.Querier, token string, now time.Time,
) (Person, string, error) {
	hash := apikey.Hash(token)
	var p Person
	var oldHash string
	var expiresAt, usedAt int64
	err := q.QueryRow(ctx,
		`SELECT p.id, p.name, p.email, p.epoch, p.password_hash, r.expires_at, r.used_at FROM recoveries r
		JOIN people p ON p.id = r.person_id
		WHERE r.token_hash = ? AND p.held_at = 0`, hash[:]).Scan(&p.ID, &p.Name, &p.Email, &p.Epoch, &oldHash, &expiresAt,
		&usedAt)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Person{}, "", apierr.ItemNotFound()
	case err != nil:
		return Person{}, "", fmt.Errorf("reading a link: %w", err)
	case usedAt > 0:
		return Person{}, "", errRecoveryUsed
	case !db.Time(expiresAt).After(now):
		return Person{}, "", errRecoveryExpired
	}
	return p, oldHash, nil
}

// Recover sets a new password with a recovery link. It ends all of the person's sessions and removes every credential
// that the choice does not keep, because an intruder may have added it.
func (s *SignIns) Recover(ctx context.Context, token, password string, choice CredentialChoice) (Person, error) {
	p, err := s.teams.PersonByRecovery(ctx, token)
	if err != nil {
		return Person{}, err
	}
	if err := passwords.Check(password, p.Name, p.Email); err != nil {
		return Person{}, err
	}
	newHash, err := s.hashPassword(ctx, passwords.PersonCaller(p.ID), password)
	if err != nil {
		return Person{}, err
	}
	err = s.teams.change(ctx, "team.use_recovery", func(ctx context.Context, tx *db.Tx) error {
		current, oldHash, err := s.teams.personByRecovery(ctx, tx, token, tx.Now())
		if err != nil {
			return err
		}
		p = current
		mailed, err := useRecovery(ctx, tx, token)
		if err != nil {
			return err
		}
		if err := setPassword(ctx, tx, &p, newHash, oldHash, "person.recovered"); err != nil {
			return err
		}
		if err := s.teams.applyChoice(ctx, tx, p.ID, choice); err != nil || !mailed {
			return err
		}
		return s.teams.confirmEmail(ctx, tx, p.ID, "recovery")
	})
	return p, err
}

// useRecovery marks a link as used and reports whether it was emailed.
func useRecovery(ctx context.Context, tx *db.Tx, token string) (bool, error) {
	hash := apikey.Hash(token)
	var mailedAt int64
	err := tx.QueryRow(ctx,
		`UPDATE recoveries SET used_at = ? WHERE token_hash = ? AND used_at = 0 RETURNING mailed_at`,
		db.Micros(tx.Now()), hash[:]).Scan(&mailedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return false, errRecoveryUsed
	}
	if err != nil {
		return false, fmt.Errorf("using a link: %w", err)
	}
	return mailedAt > 0, nil
}
