package totp

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/platform/db"
)

// makeCodes replaces a person's recovery codes and returns the new codes.
func makeCodes(ctx context.Context, tx *db.Tx, person int64) ([]string, error) {
	if _, err := tx.Exec(ctx, `DELETE FROM totp_recovery_codes WHERE person_id = ?`, person); err != nil {
		return nil, fmt.Errorf("deleting the previous recovery codes: %w", err)
	}
	codes := make([]string, recoveryCodeCount)
	for i := range codes {
		codes[i] = newCode()
		hash := apikey.Hash(normalizeCode(codes[i]))
		if _, err := tx.Exec(ctx, `INSERT INTO totp_recovery_codes (code_hash, person_id) VALUES (?, ?)`, hash[:],
			person); err != nil {
			return nil, fmt.Errorf("storing a recovery code: %w", err)
		}
	}
	return codes, nil
}

// newCode creates a code of base32 characters in groups of four, such as ABCD-EFGH.
func newCode() string {
	text := rand.Text() // 26 characters
	groups := make([]string, codeGroups)
	for i := range groups {
		groups[i] = text[4*i : 4*i+4]
	}
	return strings.Join(groups, "-")
}

// normalizeCode removes the separators from a code and converts the code to upper case. It replaces digits that look
// like letters with those letters.
func normalizeCode(code string) string {
	return strings.Map(func(c rune) rune {
		switch c {
		case '-', ' ', '\t':
			return -1
		case '0': // base32 has no digit 0
			return 'O'
		case '1':
			return 'I'
		}
		return c
	}, strings.ToUpper(strings.TrimSpace(code)))
}

// Recover accepts a recovery code instead of a code from the app. Each recovery code works only once. Recover returns
// the number of remaining codes. Recovery codes are too long to guess, so wrong codes do not cause a delay.
func (s *Service) Recover(ctx context.Context, h Holder, code string) (int, error) {
	remaining := 0
	err := s.db.InTx(ctx, "totp.recover", func(ctx context.Context, tx *db.Tx) error {
		if _, err := s.lock(ctx, tx, h); err != nil {
			return err
		}
		hash := apikey.Hash(normalizeCode(code))
		n, err := tx.Exec(ctx, `DELETE FROM totp_recovery_codes WHERE person_id = ? AND code_hash = ?`, h.Person,
			hash[:])
		if err != nil {
			return fmt.Errorf("using a recovery code: %w", err)
		}
		if n == 0 {
			return errRecoveryCode
		}
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM totp_recovery_codes WHERE person_id = ?`,
			h.Person).Scan(&remaining); err != nil {
			return fmt.Errorf("counting recovery codes: %w", err)
		}
		return record(ctx, tx, h.Person, "totp.recovery_code_used", map[string]any{"left": remaining})
	})
	return remaining, err
}

// NewCodes replaces the recovery codes of a person who has an authenticator app. It returns the new codes, which the
// person sees only once.
func (s *Service) NewCodes(ctx context.Context, person int64) ([]string, error) {
	var codes []string
	err := s.db.InTx(ctx, "totp.new_codes", func(ctx context.Context, tx *db.Tx) error {
		// Lock the row so that concurrent requests store their codes one after the other.
		err := tx.QueryRow(ctx, `SELECT person_id FROM totp_secrets WHERE person_id = ?`+s.db.ForUpdate(),
			person).Scan(&person)
		if errors.Is(err, sql.ErrNoRows) {
			return errNoApp
		}
		if err != nil {
			return fmt.Errorf("reading an authenticator app: %w", err)
		}
		if codes, err = makeCodes(ctx, tx, person); err != nil {
			return err
		}
		return record(ctx, tx, person, "totp.recovery_codes_made", nil)
	})
	return codes, err
}
