package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// SetSecondFactor sets whether members of the team need a second factor. Only the owner may call it.
func (a Admin) SetSecondFactor(ctx context.Context, required bool) error {
	return a.change(ctx, "team.second_factor", ownerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		return auditEntry{a.team, map[string]any{"on": required}}, a.updateTeam(ctx, tx, `second_factor = ?`,
			db.BoolToInt(required))
	})
}

// RequiresFactor reports whether members of a team need a second factor. For an unknown team, it reports false.
func (s *Service) RequiresFactor(ctx context.Context, q db.Querier, team int64) (bool, error) {
	var required int64
	err := q.QueryRow(ctx, `SELECT second_factor FROM teams WHERE id = ?`, team).Scan(&required)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("reading whether a team requires a second factor: %w", err)
	}
	return required > 0, nil
}

// Factors are a person's second factors.
type Factors struct {
	Passkeys int64 // number of passkeys, not counting passkeys that seem to have been copied
	App      bool  // whether the person has an authenticator app

	Directory bool // whether the person can sign in only with the operator's directory; set only by MemberFactors
}

// Any reports whether the person has a second factor.
func (f Factors) Any() bool { return f.Passkeys > 0 || f.App }

const factorColumns = `(SELECT COUNT(*) FROM passkeys k WHERE k.person_id = p.id AND k.copied_at = 0),
	(SELECT COUNT(*) FROM totp_secrets t WHERE t.person_id = p.id)`

// Factors returns a person's second factors.
func (s *Service) Factors(ctx context.Context, person int64) (Factors, error) {
	return readFactors(ctx, s.db, person)
}

func readFactors(ctx context.Context, q db.Querier, person int64) (Factors, error) {
	var out Factors
	var appCount int64
	if err := q.QueryRow(ctx, `SELECT `+factorColumns+` FROM people p WHERE p.id = ?`, person).Scan(&out.Passkeys,
		&appCount); err != nil {
		return out, fmt.Errorf("reading a person's second factors: %w", err)
	}
	out.App = appCount > 0
	return out, nil
}

// MemberFactors returns the second factors of the members that MemberPage lists, by person ID.
func (s *Service) MemberFactors(ctx context.Context, team, afterID int64, limit int) (map[int64]Factors, error) {
	out := map[int64]Factors{}
	_, err := db.All(ctx, s.db, func(rows *sql.Rows, _ *struct{}) error {
		var person, apps, directory int64
		var f Factors
		err := rows.Scan(&person, &f.Passkeys, &apps, &directory)
		f.App, f.Directory = apps > 0, directory > 0
		out[person] = f
		return err
	}, `SELECT p.id, `+factorColumns+
		`, CASE WHEN p.password_hash = '' AND NOT EXISTS (SELECT 1 FROM passkeys k WHERE k.person_id = p.id AND k.copied_at = 0)
			AND EXISTS (SELECT 1 FROM directory_identities d WHERE d.person_id = p.id) THEN 1 ELSE 0 END
		FROM memberships m JOIN people p ON p.id = m.person_id WHERE m.team_id = ? AND m.person_id > ?
		ORDER BY m.person_id LIMIT ?`, team, afterID, limit)
	if err != nil {
		return nil, fmt.Errorf("reading members' second factors: %w", err)
	}
	return out, nil
}

var errLastFactor = apierr.BadState("last_factor",
	"You need a second factor here, and this is your only one. Add another passkey or an authenticator app first, "+
		"then remove this one.")

// EnsureFactorRemains returns an error if a person has no second factor left. A transaction that removes factors must
// lock the person's row first and call EnsureFactorRemains at its end.
func EnsureFactorRemains(ctx context.Context, tx *db.Tx, person int64) error {
	factors, err := readFactors(ctx, tx, person)
	if err == nil && !factors.Any() {
		return errLastFactor
	}
	return err
}

var errKeepFactor = apierr.Invalid(apierr.NotAllowedValue, "keep",
	"Your team requires a second factor. Keep your authenticator app or one of your passkeys.")

// removeUnkeptCredentials removes the credentials that a password change does not keep. It returns an error if a person
// who needs a second factor would lose the last one.
func (s *Service) removeUnkeptCredentials(ctx context.Context, tx *db.Tx, c PasswordChange) error {
	oldFactors, err := readFactors(ctx, tx, c.Person)
	if err != nil {
		return err
	}
	if err := s.applyChoice(ctx, tx, c.Person, c.CredentialChoice); err != nil || !c.NeedsFactor || !oldFactors.Any() {
		return err
	}
	if err = EnsureFactorRemains(ctx, tx, c.Person); errors.Is(err, errLastFactor) {
		return errKeepFactor
	}
	return err
}

// AppID is the Credential.ID of a person's authenticator app.
const AppID = "authenticator-app"

// listAuthenticatorApp returns a person's authenticator app as a credential. Removing it also removes the recovery
// codes.
func listAuthenticatorApp(ctx context.Context, _ *Service, q db.Querier, person int64) ([]Credential, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, c *Credential) error {
		var createdAt, step int64
		err := rows.Scan(&createdAt, &step)
		c.ID, c.Kind, c.Name = AppID, "Authenticator app", "for codes after the password"
		c.CreatedAt, c.UsedAt = db.Time(createdAt), time.Unix(step*30, 0) // time step of the last code (RFC 6238)
		c.remove = func(ctx context.Context, tx *db.Tx) error { return deleteApp(ctx, tx, person) }
		return err
	}, `SELECT created_at, last_step FROM totp_secrets WHERE person_id = ?`, person)
	if err != nil {
		return nil, fmt.Errorf("reading a person's authenticator app: %w", err)
	}
	return out, nil
}

// RemoveApp removes a person's authenticator app and its recovery codes. It returns not_found if there is no app. If
// check is not nil, RemoveApp calls it at the end of the transaction and returns its error. check is
// EnsureFactorRemains for a person who needs a second factor.
func (s *Service) RemoveApp(
	ctx context.Context, person int64, check func(ctx context.Context, tx *db.Tx, person int64) error,
) error {
	return s.db.InTx(ctx, "team.remove_app", func(ctx context.Context, tx *db.Tx) error {
		// Lock the person's row, so that concurrent calls do not remove both factors.
		if err := tx.QueryRow(ctx, `SELECT id FROM people WHERE id = ?`+s.db.ForUpdate(),
			person).Scan(&person); err != nil {
			return fmt.Errorf("locking the owner of an authenticator app: %w", err)
		}
		switch factors, err := readFactors(ctx, tx, person); {
		case err != nil:
			return err
		case !factors.App:
			return apierr.ItemNotFound()
		}
		if err := deleteApp(ctx, tx, person); err != nil || check == nil {
			return err
		}
		return check(ctx, tx, person)
	})
}

func deleteApp(ctx context.Context, tx *db.Tx, person int64) error {
	for _, statement := range []string{
		`DELETE FROM totp_recovery_codes WHERE person_id = ?`, `DELETE FROM totp_secrets WHERE person_id = ?`,
	} {
		if _, err := tx.Exec(ctx, statement, person); err != nil {
			return fmt.Errorf("removing an authenticator app: %w", err)
		}
	}
	return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "totp.removed", formatID(person), nil)
}
