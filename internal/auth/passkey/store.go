package passkey

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-webauthn/webauthn/webauthn"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

const handleLen = 32 // length of a user handle in bytes; at most 64 (Web Authentication, section 4)

// newOwner returns the person who is creating a passkey. If the person has no user handle yet, it creates one.
func (s *Service) newOwner(ctx context.Context, registrant Registrant) (owner, error) {
	o := owner{person: registrant.Person, name: registrant.Name, email: registrant.Email}
	if registrant.Person != 0 {
		err := s.db.QueryRow(ctx, `SELECT passkey_handle FROM people WHERE id = ?`, registrant.Person).Scan(&o.handle)
		if err != nil {
			return o, fmt.Errorf("reading the owner of a new passkey: %w", err)
		}
		if o.credentials, err = s.listCredentials(ctx, registrant.Person); err != nil {
			return o, err
		}
	}
	if len(o.handle) == 0 {
		o.handle = make([]byte, handleLen)
		rand.Read(o.handle) // crypto/rand.Read never fails
	}
	return o, nil
}

// ownerByHandle returns the person with a user handle. It returns errUnknownPasskey if there is none or the person is
// suspended.
func (s *Service) ownerByHandle(ctx context.Context, handle []byte) (owner, error) {
	o := owner{handle: handle}
	err := s.db.QueryRow(ctx, `SELECT id, name, email FROM people WHERE passkey_handle = ? AND held_at = 0`,
		handle).Scan(&o.person, &o.name, &o.email)
	if errors.Is(err, sql.ErrNoRows) {
		return o, errUnknownPasskey
	}
	if err != nil {
		return o, fmt.Errorf("looking up a passkey's owner: %w", err)
	}
	o.credentials, err = s.listCredentials(ctx, o.person)
	return o, err
}

func (s *Service) listCredentials(ctx context.Context, person int64) ([]webauthn.Credential, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, c *webauthn.Credential) error {
		var raw string
		if err := rows.Scan(&raw); err != nil {
			return err
		}
		return json.Unmarshal([]byte(raw), c)
	}, `SELECT credential FROM passkeys WHERE person_id = ? ORDER BY id`, person)
	if err != nil {
		return nil, fmt.Errorf("reading passkeys: %w", err)
	}
	return out, nil
}

// recordUse records the use of a passkey. It returns an error if the passkey was cloned. It locks the row, so that only
// one of two concurrent uses with the same signature count succeeds.
func (s *Service) recordUse(ctx context.Context, o owner, credential *webauthn.Credential) error {
	var rejection error
	err := s.db.InTx(ctx, "passkey.use", func(ctx context.Context, tx *db.Tx) error {
		rejection = nil
		var id, copiedAt int64
		var raw string
		err := tx.QueryRow(ctx,
			`SELECT id, credential, copied_at FROM passkeys WHERE person_id = ? AND credential_id = ?`+s.db.ForUpdate(),
			o.person, credential.ID).Scan(&id, &raw, &copiedAt)
		if errors.Is(err, sql.ErrNoRows) {
			return errUnknownPasskey // the passkey was removed in the meantime
		}
		if err != nil {
			return fmt.Errorf("reading a passkey: %w", err)
		}
		var stored webauthn.Credential
		if err := json.Unmarshal([]byte(raw), &stored); err != nil {
			return fmt.Errorf("reading a passkey: %w", err)
		}
		if copiedAt > 0 {
			rejection = errCopiedPasskey
			return nil
		}
		if stored.Authenticator.UpdateCounter(credential.Authenticator.SignCount); stored.Authenticator.CloneWarning ||
			credential.Authenticator.CloneWarning {
			rejection = errCopiedPasskey
			return recordCopy(ctx, tx, o.person, id)
		}
		credential.Authenticator.CloneWarning = false
		credentialJSON, err := json.Marshal(credential)
		if err != nil {
			return fmt.Errorf("encoding a passkey: %w", err)
		}
		if _, err := tx.Exec(ctx, `UPDATE passkeys SET credential = ?, used_at = ? WHERE id = ?`, string(credentialJSON),
			db.Micros(tx.Now()), id); err != nil {
			return fmt.Errorf("recording a passkey's use: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return rejection
}

func recordCopy(ctx context.Context, tx *db.Tx, person, passkey int64) error {
	if _, err := tx.Exec(ctx, `UPDATE passkeys SET copied_at = ? WHERE id = ?`, db.Micros(tx.Now()),
		passkey); err != nil {
		return fmt.Errorf("recording a cloned passkey: %w", err)
	}
	return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "passkey.copied", formatID(passkey), nil)
}

// Add adds a passkey to a person.
func (s *Service) Add(ctx context.Context, person int64, n NewPasskey) error {
	return s.db.InTx(ctx, "passkey.add", func(ctx context.Context, tx *db.Tx) error { return n.Save(ctx, tx, person) })
}

// Save adds a passkey to a person in an existing transaction.
func (n NewPasskey) Save(ctx context.Context, tx *db.Tx, person int64) error {
	// The update locks the person's row, so that concurrent requests count passkeys correctly and use the same handle.
	var handle []byte
	err := tx.QueryRow(ctx,
		`UPDATE people SET passkey_handle = COALESCE(passkey_handle, ?) WHERE id = ? RETURNING passkey_handle`,
		n.handle, person).Scan(&handle)
	if err != nil {
		return fmt.Errorf("storing the user handle: %w", err)
	}
	if !bytes.Equal(handle, n.handle) {
		return errExpired // another first passkey was added concurrently
	}
	var count int64
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM passkeys WHERE person_id = ?`, person).Scan(&count); err != nil {
		return fmt.Errorf("counting passkeys: %w", err)
	}
	if count >= maxPasskeys {
		return errTooManyPasskeys
	}
	raw, err := json.Marshal(n.credential)
	if err != nil {
		return fmt.Errorf("encoding a passkey: %w", err)
	}
	var id int64
	err = tx.QueryRow(ctx,
		`INSERT INTO passkeys (person_id, credential_id, name, credential, created_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (credential_id) DO NOTHING RETURNING id`,
		person, n.credential.ID, n.name, string(raw), db.Micros(tx.Now())).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return errInvalidPasskey // the credential is already stored
	}
	if err != nil {
		return fmt.Errorf("adding a passkey: %w", err)
	}
	return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "passkey.added", formatID(id), nil)
}

// List returns a person's passkeys, oldest first.
func (s *Service) List(ctx context.Context, person int64) ([]Passkey, error) {
	return db.All(ctx, s.db, func(rows *sql.Rows, p *Passkey) error {
		var createdAt, usedAt, copiedAt int64
		err := rows.Scan(&p.ID, &p.Name, &createdAt, &usedAt, &copiedAt)
		p.CreatedAt, p.UsedAt, p.Copied = db.Time(createdAt), db.Time(usedAt), copiedAt > 0
		return err
	}, `SELECT id, name, created_at, used_at, copied_at FROM passkeys WHERE person_id = ? ORDER BY id`, person)
}

// Rename renames a person's passkey.
func (s *Service) Rename(ctx context.Context, person, passkey int64, name string) error {
	if name = strings.TrimSpace(name); !isValidName(name) {
		return errInvalidName
	}
	return s.db.InTx(ctx, "passkey.rename", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE passkeys SET name = ? WHERE id = ? AND person_id = ?`, name, passkey, person)
		if err != nil {
			return fmt.Errorf("renaming a passkey: %w", err)
		}
		if n == 0 {
			return apierr.ItemNotFound()
		}
		return nil
	})
}

// Remove removes a person's passkey unless it is the person's only way to sign in. If check is not nil, it runs at the
// end of the transaction. If check returns an error, the passkey is not removed.
func (s *Service) Remove(
	ctx context.Context, person, passkey int64, check func(ctx context.Context, tx *db.Tx, person int64) error,
) error {
	return s.db.InTx(ctx, "passkey.remove", func(ctx context.Context, tx *db.Tx) error {
		var password string
		if err := tx.QueryRow(ctx, `SELECT password_hash FROM people WHERE id = ?`+s.db.ForUpdate(),
			person).Scan(&password); err != nil {
			return fmt.Errorf("reading how a person signs in: %w", err)
		}
		var otherPasskeys int64
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM passkeys WHERE person_id = ? AND id <> ? AND copied_at = 0`,
			person, passkey).Scan(&otherPasskeys); err != nil {
			return fmt.Errorf("counting passkeys: %w", err)
		}
		n, err := tx.Exec(ctx, `DELETE FROM passkeys WHERE id = ? AND person_id = ?`, passkey, person)
		switch {
		case err != nil:
			return fmt.Errorf("removing a passkey: %w", err)
		case n == 0:
			return apierr.ItemNotFound()
		case password == "" && otherPasskeys == 0:
			return errOnlySignInMethod
		}
		if check != nil {
			if err := check(ctx, tx, person); err != nil {
				return err
			}
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "passkey.removed", formatID(passkey), nil)
	})
}

func formatID(n int64) string { return strconv.FormatInt(n, 10) }
