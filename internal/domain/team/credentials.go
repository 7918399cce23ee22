package team

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Credential is a way other than the password to sign in as a person or to act on the person's behalf.
type Credential struct {
	ID        string // value in forms, such as passkey-12
	Kind      string // kind to display, such as Passkey
	Name      string
	CreatedAt time.Time
	UsedAt    time.Time // zero if the credential was never used

	remove func(ctx context.Context, tx *db.Tx) error
}

// credentialKinds holds a function for each kind of credential. The function lists a person's credentials of that kind.
// credentialKinds must include every kind that is removed when the password changes.
var credentialKinds = []func(ctx context.Context, s *Service, q db.Querier, person int64) ([]Credential, error){
	listPasskeys, listAuthenticatorApp, listAssistants,
}

// Credentials lists all means of access to a person's account except the password.
func (s *Service) Credentials(ctx context.Context, person int64) ([]Credential, error) {
	return s.credentials(ctx, s.db, person)
}

func (s *Service) credentials(ctx context.Context, q db.Querier, person int64) ([]Credential, error) {
	var out []Credential
	for _, list := range credentialKinds {
		found, err := list(ctx, s, q, person)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// removeCredentials removes a person's credentials except those with the given IDs.
func (s *Service) removeCredentials(ctx context.Context, tx *db.Tx, person int64, keepIDs []string) error {
	credentials, err := s.credentials(ctx, tx, person)
	if err != nil {
		return err
	}
	for _, c := range credentials {
		if slices.Contains(keepIDs, c.ID) {
			continue
		}
		if err := c.remove(ctx, tx); err != nil {
			return err
		}
	}
	return s.deletePendingCredentials(ctx, tx, person)
}

// deletePendingCredentials deletes unused links that set a password or confirm an address, and authorization codes that
// are not redeemed yet.
func (s *Service) deletePendingCredentials(ctx context.Context, tx *db.Tx, person int64) error {
	for _, statement := range []string{
		`DELETE FROM recoveries WHERE person_id = ? AND used_at = 0`,
		`DELETE FROM email_proofs WHERE person_id = ? AND used_at = 0`,
		`DELETE FROM oauth_grants WHERE person_id = ? AND connection_id = 0`,
	} {
		if _, err := tx.Exec(ctx, statement, person); err != nil {
			return fmt.Errorf("ending a person's pending credentials: %w", err)
		}
	}
	return nil
}

// removeSignInMethods removes a person's password and credentials, revokes the keys and invitations that the person
// issued, and ends all sessions.
func (s *Service) removeSignInMethods(ctx context.Context, tx *db.Tx, p *Person) error {
	if err := tx.QueryRow(ctx, `UPDATE people SET password_hash = '', epoch = epoch + 1 WHERE id = ? RETURNING epoch`,
		p.ID).Scan(&p.Epoch); err != nil {
		return fmt.Errorf("removing a person's password: %w", err)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM sessions WHERE person_id = ?`, p.ID); err != nil {
		return fmt.Errorf("ending a person's sessions: %w", err)
	}
	if err := s.removeCredentials(ctx, tx, p.ID, nil); err != nil {
		return err
	}
	detail, err := s.revokeAllIssued(ctx, tx, p.ID)
	if err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: p.ID}, "person.sign_ins_removed", formatID(p.ID), detail)
}

func listPasskeys(ctx context.Context, _ *Service, q db.Querier, person int64) ([]Credential, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, c *Credential) error {
		var key, createdAt, usedAt int64
		err := rows.Scan(&key, &c.Name, &createdAt, &usedAt)
		c.ID, c.Kind, c.CreatedAt, c.UsedAt = "passkey-"+formatID(key), "Passkey", db.Time(createdAt), db.Time(usedAt)
		c.remove = func(ctx context.Context, tx *db.Tx) error {
			if _, err := tx.Exec(ctx, `DELETE FROM passkeys WHERE id = ? AND person_id = ?`, key, person); err != nil {
				return fmt.Errorf("removing a passkey: %w", err)
			}
			return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "passkey.removed", formatID(key), nil)
		}
		return err
	}, `SELECT id, name, created_at, used_at FROM passkeys WHERE person_id = ? ORDER BY id`, person)
	if err != nil {
		return nil, fmt.Errorf("reading a person's passkeys: %w", err)
	}
	return out, nil
}

func listAssistants(ctx context.Context, _ *Service, q db.Querier, person int64) ([]Credential, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, c *Credential) error {
		var connection, team, createdAt, usedAt int64
		var name, teamName string
		err := rows.Scan(&connection, &team, &name, &teamName, &createdAt, &usedAt)
		c.ID, c.Kind, c.CreatedAt, c.UsedAt = "assistant-"+formatID(connection), "Assistant", db.Time(createdAt), db.Time(usedAt)
		c.Name = name + " (" + teamName + ")"
		c.remove = func(ctx context.Context, tx *db.Tx) error {
			if _, err := tx.Exec(ctx,
				`UPDATE api_keys SET revoked_at = ? WHERE id = ? AND team_id = ? AND person_id = ?`,
				db.Micros(tx.Now()), connection, team, person); err != nil {
				return fmt.Errorf("ending an assistant's connection: %w", err)
			}
			return auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: person}, "assistant.revoked", formatID(connection),
				nil)
		}
		return err
	}, `SELECT k.id, k.team_id, k.name, t.name, k.created_at, k.used_at FROM api_keys k JOIN teams t ON t.id = k.team_id
		WHERE k.person_id = ? AND k.kind = 'assistant' AND k.revoked_at = 0 AND k.lost = '' ORDER BY k.id`, person)
	if err != nil {
		return nil, fmt.Errorf("reading a person's assistants: %w", err)
	}
	return out, nil
}
