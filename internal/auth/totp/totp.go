// Package totp checks one-time codes from authenticator apps (RFC 6238: SHA-1, 30 seconds, 6 digits) and recovery
// codes, which people use if they lose the app. It stores secrets sealed and recovery codes hashed, and never accepts a
// code twice.
package totp

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"database/sql"
	"encoding/base32"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pquerna/otp/hotp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	period     = 30 * time.Second
	skew       = 1  // number of time steps before and after the current step that are also accepted
	secretSize = 20 // bytes; the length of a SHA-1 hash (RFC 4226, section 4)

	recoveryCodeCount = 10
	// A recovery code consists of codeGroups groups of four characters with five bits each. Because it has 120 bits, an
	// unsalted hash is enough to protect it (ASVS 5.0, section 6.5.2).
	codeGroups = 6
)

// Service manages people's authenticator apps.
type Service struct {
	db     *db.DB
	sealer *tokencrypt.Sealer
	issuer string // the service's name in authenticator apps
}

// New returns a Service. Authenticator apps show the issuer as the name of the service.
func New(d *db.DB, sealer *tokencrypt.Sealer, issuer string) *Service {
	return &Service{d, sealer, issuer}
}

var (
	errWrongCode = apierr.New(apierr.Unauthorized,
		"That code is not valid. Check your phone’s clock, then enter the next code from the app.")
	errWrongSetupCode = apierr.Invalid(apierr.NotAllowedValue, "code",
		"That code is not valid. Check your phone’s clock, then enter the current code from the app.")
	errRecoveryCode = apierr.New(apierr.Unauthorized, "That recovery code is not valid, or it was used before.")
	errExpired      = apierr.BadState("ended", "This sign-in has expired. Start again.")
	errAlreadyAdded = apierr.BadState("exists", "You already have an authenticator app. Replace it instead.")
	errNoApp        = apierr.BadState("none", "You have no authenticator app.")
)

// Setup is a secret that a person has not confirmed yet.
type Setup struct {
	Secret       string // secret in base32, for people to type
	URL          string // otpauth URL with the secret, for apps to scan
	SealedSecret []byte // the sealed secret, to pass to Resume
}

// Begin creates a secret for a person.
func (s *Service) Begin(person int64, email string) (Setup, error) {
	raw := make([]byte, secretSize)
	rand.Read(raw) // crypto/rand.Read never fails
	secret := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw)
	sealed, err := s.sealer.Seal([]byte(secret), setupAssociatedData(person))
	if err != nil {
		return Setup{}, fmt.Errorf("sealing a new secret: %w", err)
	}
	return s.setup(secret, email, sealed), nil
}

// Resume returns a setup that Begin created for the same person. It returns an error if Begin did not create the sealed
// secret or created it for another person.
func (s *Service) Resume(person int64, email string, sealedSecret []byte) (Setup, error) {
	secret, err := s.sealer.Open(sealedSecret, setupAssociatedData(person))
	if err != nil {
		return Setup{}, fmt.Errorf("reading a secret that is being set up: %w", err)
	}
	return s.setup(string(secret), email, sealedSecret), nil
}

func (s *Service) setup(secret, email string, sealedSecret []byte) Setup {
	query := url.Values{
		"secret": {secret}, "issuer": {s.issuer}, "algorithm": {"SHA1"}, "digits": {"6"}, "period": {"30"},
	}
	label := url.PathEscape(s.issuer + ":" + email)
	return Setup{
		Secret: secret, URL: "otpauth://totp/" + label + "?" + strings.ReplaceAll(query.Encode(), "+", "%20"),
		SealedSecret: sealedSecret,
	}
}

// setupAssociatedData returns associated data that binds the secret of a setup to a person. The secret cannot be opened
// for another person or as a confirmed secret.
func setupAssociatedData(person int64) string { return "totp setup " + strconv.FormatInt(person, 10) }
func associatedData(person int64) string      { return "totp " + strconv.FormatInt(person, 10) }

// Enrollment is the result of adding an authenticator app.
type Enrollment struct {
	Codes []string // recovery codes, which are shown once
	Epoch int64    // the person's new epoch; sessions with an earlier epoch have ended
}

// Add adds the authenticator app from a setup to a person. A code must prove that the app has the secret. All of the
// person's sessions end, because they began without the app.
func (s *Service) Add(ctx context.Context, person int64, sealedSecret []byte, code string) (Enrollment, error) {
	setup, err := s.Resume(person, "", sealedSecret)
	if err != nil {
		return Enrollment{}, apierr.BadState("ended", "This setup has expired. Start again.")
	}
	sealed, err := s.sealer.Seal([]byte(setup.Secret), associatedData(person))
	if err != nil {
		return Enrollment{}, fmt.Errorf("sealing a secret: %w", err)
	}
	var out Enrollment
	err = s.db.InTx(ctx, "totp.add", func(ctx context.Context, tx *db.Tx) error {
		matchedStep := matchingStep(setup.Secret, code, step(tx.Now()), 0)
		if matchedStep == 0 {
			return errWrongSetupCode
		}
		if err := tx.QueryRow(ctx, `UPDATE people SET epoch = epoch + 1 WHERE id = ? RETURNING epoch`,
			person).Scan(&out.Epoch); err != nil {
			return fmt.Errorf("ending a person's sessions: %w", err)
		}
		n, err := tx.Exec(ctx,
			`INSERT INTO totp_secrets (person_id, sealed, last_step, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (person_id) DO NOTHING`,
			person, sealed, matchedStep, db.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("adding an authenticator app: %w", err)
		}
		if n == 0 {
			return errAlreadyAdded
		}
		if out.Codes, err = makeCodes(ctx, tx, person); err != nil {
			return err
		}
		return record(ctx, tx, person, "totp.added", nil)
	})
	return out, err
}

// App is a person's authenticator app.
type App struct {
	Since time.Time
	Codes int // remaining recovery codes
}

// App returns a person's authenticator app, or nil if the person has none.
func (s *Service) App(ctx context.Context, person int64) (*App, error) {
	var createdAt int64
	var out App
	err := s.db.QueryRow(ctx,
		`SELECT created_at, (SELECT COUNT(*) FROM totp_recovery_codes c WHERE c.person_id = s.person_id)
		FROM totp_secrets s WHERE person_id = ?`, person).
		Scan(&createdAt, &out.Codes)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // no app is not an error
	}
	if err != nil {
		return nil, fmt.Errorf("reading an authenticator app: %w", err)
	}
	out.Since = db.Time(createdAt)
	return &out, nil
}

// Holder is a person who enters a code after the correct password. Epoch is the person's epoch when they entered the
// password.
type Holder struct{ Person, Epoch int64 }

// secretRow is a row of totp_secrets.
type secretRow struct {
	sealed   []byte
	lastStep int64
}

// Check accepts a code from the person's app. Each code works only once. Check returns unauthorized if the code is
// wrong. The caller must limit the number of guesses.
func (s *Service) Check(ctx context.Context, h Holder, code string) error {
	return s.db.InTx(ctx, "totp.check", func(ctx context.Context, tx *db.Tx) error {
		row, err := s.lock(ctx, tx, h)
		if err != nil {
			return err
		}
		secret, err := s.sealer.Open(row.sealed, associatedData(h.Person))
		if err != nil {
			return fmt.Errorf("reading a person's secret: %w", err)
		}
		matchedStep := matchingStep(string(secret), code, step(tx.Now()), row.lastStep)
		if matchedStep == 0 {
			return errWrongCode
		}
		_, err = tx.Exec(ctx, `UPDATE totp_secrets SET last_step = ? WHERE person_id = ?`, matchedStep, h.Person)
		return wrapError(err, "accepting a code")
	})
}

// lock locks and returns the secret of a person who is signing in.
func (s *Service) lock(ctx context.Context, tx *db.Tx, h Holder) (secretRow, error) {
	var row secretRow
	var suspendedAt, epoch int64
	err := tx.QueryRow(ctx,
		`SELECT s.sealed, s.last_step, p.held_at, p.epoch FROM totp_secrets s JOIN people p ON p.id = s.person_id
		WHERE s.person_id = ?`+s.db.ForUpdate(), h.Person).
		Scan(&row.sealed, &row.lastStep, &suspendedAt, &epoch)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (suspendedAt > 0 || epoch != h.Epoch) {
		return row, errExpired
	}
	return row, wrapError(err, "reading a person's secret")
}

// step returns the time step of a time: the number of periods since 1970.
func step(at time.Time) int64 { return at.Unix() / int64(period/time.Second) }

// matchingStep returns a time step near now that has the given code and is later than lastStep. It returns 0 if there
// is none.
func matchingStep(secret, code string, now, lastStep int64) int64 {
	code = strings.Join(strings.Fields(code), "")
	var match int64
	for t := now - skew; t <= now+skew; t++ {
		want, err := hotp.GenerateCode(secret, uint64(t)) //nolint:gosec // the clock is never before 1970
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 && t > lastStep {
			match = t
		}
	}
	return match
}

func record(ctx context.Context, tx *db.Tx, person int64, kind string, detail map[string]any) error {
	return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, kind, strconv.FormatInt(person, 10), detail)
}

func wrapError(err error, action string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return nil
}
