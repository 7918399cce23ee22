package totp

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/platform/db"
)

// longestCode is the maximum length in characters of an app's code, with spaces that people may type.
const longestCode = 10

// IsRecovery reports whether a text has the length of a recovery code rather than that of an app's code.
func IsRecovery(code string) bool { return len(normalizeCode(code)) > longestCode }

// Replace replaces a person's authenticator app with the one from a setup. It requires a code of the new app, and a
// code of the current app or a recovery code. If the latter is wrong, it returns unauthorized. After success, the
// previous secret and recovery codes are invalid, and all of the person's sessions end.
func (s *Service) Replace(ctx context.Context, h Holder, kept []byte, code, current string) (Added, error) {
	setup, err := s.Resume(h.Person, "", kept)
	if err != nil {
		return Added{}, apierr.BadState("ended", "This setup has expired. Start again.")
	}
	sealed, err := s.sealer.Seal([]byte(setup.Secret), associatedData(h.Person))
	if err != nil {
		return Added{}, fmt.Errorf("sealing a secret: %w", err)
	}
	var out Added
	err = s.db.InTx(ctx, "totp.replace", func(ctx context.Context, tx *db.Tx) error {
		row, err := s.lock(ctx, tx, h)
		if err != nil {
			return err
		}
		if err := s.checkCurrent(ctx, tx, h.Person, row, current); err != nil {
			return err
		}
		used := matchingStep(setup.Secret, code, step(tx.Now()), 0)
		if used == 0 {
			return errConfirm
		}
		out, err = swap(ctx, tx, h.Person, stored{sealed, used})
		return err
	})
	return out, err
}

// checkCurrent checks a code of the current app or a recovery code. It does not mark the code as used, because app
// and codes are replaced.
func (s *Service) checkCurrent(ctx context.Context, tx *db.Tx, person int64, row stored, code string) error {
	if IsRecovery(code) {
		hash, n := apikey.Hash(normalizeCode(code)), 0
		err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM totp_recovery_codes WHERE person_id = ? AND code_hash = ?`,
			person, hash[:]).Scan(&n)
		if err == nil && n == 0 {
			return errRecoveryCode
		}
		return wrap(err, "reading a recovery code")
	}
	plain, err := s.sealer.Open(row.sealed, associatedData(person))
	if err != nil {
		return fmt.Errorf("reading a person's secret: %w", err)
	}
	if matchingStep(string(plain), code, step(tx.Now()), row.last) == 0 {
		return errWrong
	}
	return nil
}

// swap replaces the secret and the recovery codes, and ends the person's sessions.
func swap(ctx context.Context, tx *db.Tx, person int64, next stored) (Added, error) {
	var out Added
	err := tx.QueryRow(ctx, `UPDATE people SET epoch = epoch + 1 WHERE id = ? RETURNING epoch`, person).Scan(&out.Epoch)
	if err != nil {
		return out, fmt.Errorf("ending a person's sessions: %w", err)
	}
	_, err = tx.Exec(ctx, `UPDATE totp_secrets SET sealed = ?, last_step = ?, created_at = ? WHERE person_id = ?`,
		next.sealed, next.last, db.Micros(tx.Now()), person)
	if err != nil {
		return out, fmt.Errorf("replacing an authenticator app: %w", err)
	}
	if out.Codes, err = makeCodes(ctx, tx, person); err != nil {
		return out, err
	}
	return out, record(ctx, tx, person, "totp.replaced", nil)
}
