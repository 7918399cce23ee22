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
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// ConfirmPath is the path prefix of links that confirm an email address; the token follows.
const ConfirmPath = "/confirm-email/"

const (
	proofLife     = time.Hour
	proofsPerHour = 5 // links for one person
)

var (
	errProofUsed = apierr.BadState("used",
		"This link has already been used. Your account shows whether your email address is confirmed.")
	errProofEnded = apierr.BadState("ended", "This link has expired. Send yourself a new one from your account page.")
	errProved     = apierr.BadState("proved", "Your email address is already confirmed.")
)

// proveEmail notes that a person's address is the person's own, and how that was proved. Teams that the person waits
// for take the person in.
func (s *Service) proveEmail(ctx context.Context, tx *db.Tx, person int64, how string) error {
	n, err := tx.Exec(ctx, `UPDATE people SET email_proved_at = ? WHERE id = ? AND email_proved_at = 0`,
		db.Micros(tx.Now()), person)
	if err != nil {
		return fmt.Errorf("recording a confirmed address: %w", err)
	}
	if n == 0 {
		return nil
	}
	if err := auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "person.email_confirmed", id(person),
		map[string]any{"by": how}); err != nil {
		return err
	}
	return s.endWaiting(ctx, tx, person)
}

// newProof creates a link that confirms a person's address and ends earlier ones. It returns rate_limited after five in
// an hour.
func (s *Service) newProof(ctx context.Context, person int64) (Person, string, error) {
	p, token := Person{ID: person}, rand.Text()
	hash := apikey.Hash(token)
	err := s.db.InTx(ctx, "team.new_proof", func(ctx context.Context, tx *db.Tx) error {
		var proved int64
		err := tx.QueryRow(ctx,
			`SELECT name, email, email_proved_at FROM people WHERE id = ? AND held_at = 0`+s.db.ForUpdate(),
			person).Scan(&p.Name, &p.Email, &proved)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return apierr.Missing()
		case err != nil:
			return fmt.Errorf("reading whose address is to be confirmed: %w", err)
		case proved > 0:
			return errProved
		}
		if err := boundProofs(ctx, tx, person); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE email_proofs SET expires_at = created_at WHERE person_id = ? AND used_at = 0`,
			person); err != nil {
			return fmt.Errorf("ending earlier links: %w", err)
		}
		_, err = tx.Exec(ctx,
			`INSERT INTO email_proofs (token_hash, person_id, created_at, expires_at) VALUES (?, ?, ?, ?)`,
			hash[:], person, db.Micros(tx.Now()), db.Micros(tx.Now().Add(proofLife)))
		if err != nil {
			return fmt.Errorf("storing a link: %w", err)
		}
		return nil
	})
	return p, token, err
}

// boundProofs limits a person's links per hour.
func boundProofs(ctx context.Context, tx *db.Tx, person int64) error {
	var n, oldest int64
	err := tx.QueryRow(ctx,
		`SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM email_proofs WHERE person_id = ? AND created_at > ?`,
		person, db.Micros(tx.Now().Add(-time.Hour))).Scan(&n, &oldest)
	if err != nil {
		return fmt.Errorf("counting links: %w", err)
	}
	if n < proofsPerHour {
		return nil
	}
	wait := db.Time(oldest).Add(time.Hour).Sub(tx.Now())
	return apierr.Newf(apierr.RateLimited, "You requested %d links within an hour. Try again in %d minutes.",
		proofsPerHour, int(wait/time.Minute)+1).With("scope", "mail").After(wait)
}

// dropProof deletes a link that could not be mailed.
func (s *Service) dropProof(ctx context.Context, token string) error {
	hash := apikey.Hash(token)
	return s.db.InTx(ctx, "team.drop_proof", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE email_proofs SET expires_at = created_at WHERE token_hash = ?`,
			hash[:]); err != nil {
			return fmt.Errorf("ending a link: %w", err)
		}
		return nil
	})
}

// CheckProof reports whether a link confirms the address of a person. It returns not_found if it does not exist or is
// another person's, and wrong_state if it has ended.
func (s *Service) CheckProof(ctx context.Context, token string, person int64) error {
	return checkProof(ctx, s.db, token, person, s.db.Now())
}

func checkProof(ctx context.Context, q db.Querier, token string, person int64, now time.Time) error {
	hash := apikey.Hash(token)
	var ends, used int64
	err := q.QueryRow(ctx, `SELECT expires_at, used_at FROM email_proofs WHERE token_hash = ? AND person_id = ?`,
		hash[:], person).Scan(&ends, &used)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return apierr.Missing()
	case err != nil:
		return fmt.Errorf("reading a link: %w", err)
	case used > 0:
		return errProofUsed
	case !db.Time(ends).After(now):
		return errProofEnded
	}
	return nil
}

// ConfirmEmail confirms a signed-in person's address with a mailed link. The link is not enough without the sign-in:
// the owner of an address could be tricked into confirming someone else's account.
func (s *Service) ConfirmEmail(ctx context.Context, token string, person int64) error {
	return s.change(ctx, "team.confirm_email", func(ctx context.Context, tx *db.Tx) error {
		if err := checkProof(ctx, tx, token, person, tx.Now()); err != nil {
			return err
		}
		hash := apikey.Hash(token)
		n, err := tx.Exec(ctx, `UPDATE email_proofs SET used_at = ? WHERE token_hash = ? AND used_at = 0`,
			db.Micros(tx.Now()), hash[:])
		if err != nil {
			return fmt.Errorf("using a link: %w", err)
		}
		if n == 0 {
			return errProofUsed
		}
		return s.proveEmail(ctx, tx, person, "mail")
	})
}
