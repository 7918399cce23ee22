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
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// ConfirmPath is the path of links that confirm an email address. The token follows it.
const ConfirmPath = "/confirm-email/"

const (
	proofLifetime    = time.Hour
	maxProofsPerHour = 5 // per person
)

var (
	errProofUsed = apierr.BadState("used",
		"This link has already been used. Your account shows whether your email address is confirmed.")
	errProofExpired     = apierr.BadState("ended", "This link has expired. Send yourself a new one from your account page.")
	errAlreadyConfirmed = apierr.BadState("proved", "Your email address is already confirmed.")
)

// confirmEmail records that a person's email address is confirmed, and how. It completes pending memberships.
func (s *Service) confirmEmail(ctx context.Context, tx *db.Tx, person int64, method string) error {
	n, err := tx.Exec(ctx, `UPDATE people SET email_proved_at = ? WHERE id = ? AND email_proved_at = 0`,
		db.Micros(tx.Now()), person)
	if err != nil {
		return fmt.Errorf("recording a confirmed address: %w", err)
	}
	if n == 0 {
		return nil
	}
	if err := auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "person.email_confirmed", formatID(person),
		map[string]any{"by": method}); err != nil {
		return err
	}
	return s.confirmPendingMemberships(ctx, tx, person)
}

// newProof creates the token of a link that confirms a person's address. Earlier links expire. newProof returns
// rate_limited after five links within an hour.
func (s *Service) newProof(ctx context.Context, person int64) (Person, string, error) {
	p, token := Person{ID: person}, rand.Text()
	hash := apikey.Hash(token)
	err := s.db.InTx(ctx, "team.new_proof", func(ctx context.Context, tx *db.Tx) error {
		var confirmedAt int64
		err := tx.QueryRow(ctx,
			`SELECT name, email, email_proved_at FROM people WHERE id = ? AND held_at = 0`+s.db.ForUpdate(),
			person).Scan(&p.Name, &p.Email, &confirmedAt)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return apierr.ItemNotFound()
		case err != nil:
			return fmt.Errorf("reading the person whose address is to be confirmed: %w", err)
		case confirmedAt > 0:
			return errAlreadyConfirmed
		}
		if err := checkProofLimit(ctx, tx, person); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE email_proofs SET expires_at = created_at WHERE person_id = ? AND used_at = 0`,
			person); err != nil {
			return fmt.Errorf("ending earlier links: %w", err)
		}
		_, err = tx.Exec(ctx,
			`INSERT INTO email_proofs (token_hash, person_id, created_at, expires_at) VALUES (?, ?, ?, ?)`,
			hash[:], person, db.Micros(tx.Now()), db.Micros(tx.Now().Add(proofLifetime)))
		if err != nil {
			return fmt.Errorf("storing a link: %w", err)
		}
		return nil
	})
	return p, token, err
}

// checkProofLimit returns rate_limited if a person has requested too many links within an hour.
func checkProofLimit(ctx context.Context, tx *db.Tx, person int64) error {
	var n, oldest int64
	err := tx.QueryRow(ctx,
		`SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM email_proofs WHERE person_id = ? AND created_at > ?`,
		person, db.Micros(tx.Now().Add(-time.Hour))).Scan(&n, &oldest)
	if err != nil {
		return fmt.Errorf("counting links: %w", err)
	}
	if n < maxProofsPerHour {
		return nil
	}
	wait := db.Time(oldest).Add(time.Hour).Sub(tx.Now())
	return apierr.Newf(apierr.RateLimited, "You requested %d links within an hour. Try again in %d minutes.",
		maxProofsPerHour, int(wait/time.Minute)+1).With("scope", "mail").WithRetryAfter(wait)
}

// expireProof expires a link that could not be sent.
func (s *Service) expireProof(ctx context.Context, token string) error {
	hash := apikey.Hash(token)
	return s.db.InTx(ctx, "team.drop_proof", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE email_proofs SET expires_at = created_at WHERE token_hash = ?`,
			hash[:]); err != nil {
			return fmt.Errorf("ending a link: %w", err)
		}
		return nil
	})
}

// CheckProof checks a link that confirms a person's address. It returns not_found for an unknown link and for another
// person's link, and wrong_state for a link that was used or has expired.
func (s *Service) CheckProof(ctx context.Context, token string, person int64) error {
	return checkProof(ctx, s.db, token, person, s.db.Now())
}

func checkProof(ctx context.Context, q db.Querier, token string, person int64, now time.Time) error {
	hash := apikey.Hash(token)
	var expiresAt, usedAt int64
	err := q.QueryRow(ctx, `SELECT expires_at, used_at FROM email_proofs WHERE token_hash = ? AND person_id = ?`,
		hash[:], person).Scan(&expiresAt, &usedAt)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return apierr.ItemNotFound()
	case err != nil:
		return fmt.Errorf("reading a link: %w", err)
	case usedAt > 0:
		return errProofUsed
	case !db.Time(expiresAt).After(now):
		return errProofExpired
	}
	return nil
}

// ConfirmEmail confirms a signed-in person's address with an emailed link. The link works only for the person who
// requested it and is signed in. Otherwise, the owner of an address could be tricked into confirming someone else's
// account.
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
		return s.confirmEmail(ctx, tx, person, "mail")
	})
}
