package totp

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/platform/db"
)

// maxAppCode is the maximum number of characters in a code from an app, including spaces that people may type.
const maxAppCode = 10

// IsRecovery reports whether a code is too long to be a code from an app and is therefore treated as a recovery code.
func IsRecovery(code string) bool { return len(normalizeCode(code)) > maxAppCode }

// Replace replaces a person's authenticator app with the app from a setup. It requires code, which must come from the
// new app, and current, which must be a code from the current app or a recovery code. If current is wrong, Replace
// returns unauthorized. If Replace succeeds, the previous secret and recovery codes become invalid, and all of the
// person's sessions end.
func (s *Service) Replace(ctx context.Context, h Holder, sealedSecret []byte, code, current string) (Enrollment, error) {
	setup, err := s.Resume(h.Person, "", sealedSecret)
	if err != nil {
		return Enrollment{}, apierr.BadState("ended", "This setup has expired. Start again.")
	}
	sealed, err := s.sealer.Seal([]byte(setup.Secret), associatedData(h.Person))
	if err != nil {
		return Enrollment{}, fmt.Errorf("sealing a secret: %w", err)
	}
	var out Enrollment
	err = s.db.InTx(ctx, "totp.replace", func(ctx context.Context, tx *db.Tx) error {
		row, err := s.lock(ctx, tx, h)
		if err != nil {
			return err
		}
		if err := s.checkCurrent(ctx, tx, h.Person, row, current); err != nil {
			return err
		}
		matchedStep := matchingStep(setup.Secret, code, step(tx.Now()), 0)
		if matchedStep == 0 {
			return errWrongSetupCode
		}
		out, err = replaceSecret(ctx, tx, h.Person, secretRow{sealed, matchedStep})
		return err
	})
	return out, err
}

// checkCurrent checks a code from the current app or a recovery code. It does not mark the code as used, because the
// app and the recovery codes are about to be replaced.
func (s *Service) checkCurrent(ctx context.Context, tx *db.Tx, person int64, row secretRow, code string) error {
	if IsRecovery(code) {
		hash, n := apikey.Hash(normalizeCode(code)), 0
		err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM totp_recovery_codes WHERE person_id = ? AND code_hash = ?`,
			person, hash[:]).Scan(&n)
		if err == nil && n == 0 {
			return errRecoveryCode
		}
		return wrapError(err, "reading a recovery code")
	}
	secret, err := s.sealer.Open(row.sealed, associatedData(person))
	if err != nil {
		return fmt.Errorf("reading a person's secret: %w", err)
	}
	if matchingStep(string(secret), code, step(tx.Now()), row.lastStep) == 0 {
		return errWrongCode
	}
	return nil
}

// replaceSecret replaces a person's secret and recovery codes, and ends the person's sessions.
func replaceSecret(ctx context.Context, tx *db.Tx, person int64, next secretRow) (Enrollment, error) {
	var out Enrollment
	err := tx.QueryRow(ctx, `UPDATE people SET epoch = epoch + 1 WHERE id = ? RETURNING epoch`, person).Scan(&out.Epoch)
	if err != nil {
		return out, fmt.Errorf("ending a person's sessions: %w", err)
	}
	_, err = tx.Exec(ctx, `UPDATE totp_secrets SET sealed = ?, last_step = ?, created_at = ? WHERE person_id = ?`,
		next.sealed, next.lastStep, db.Micros(tx.Now()), person)
	if err != nil {
		return out, fmt.Errorf("replacing an authenticator app: %w", err)
	}
	if out.Codes, err = makeCodes(ctx, tx, person); err != nil {
		return out, err
	}
	return out, record(ctx, tx, person, "totp.replaced", nil)
}
