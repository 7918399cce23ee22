package team

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// Credential is anything but the password that signs a person in or lets a program act for the person.
type Credential struct {
	ID        string // the value in forms, such as passkey-12
	Kind      string // name of its kind for people
	Name      string
	CreatedAt time.Time
	UsedAt    time.Time // zero if it was never used

	remove func(ctx context.Context, tx *db.Tx) error
}

// credentialKinds lists a person's credentials by kind. Every kind that a new password has to remove must be here.
var credentialKinds = []func(ctx context.Context, s *Service, q db.Querier, person int64) ([]Credential, error){
	passkeysOf, appsOf, assistantsOf,
}

// Credentials lists everything but the password that gives access to a person's account.
func (s *Service) Credentials(ctx context.Context, person int64) ([]Credential, error) {
	return s.credentials(ctx, s.db, person)
}

func (s *Service) credentials(ctx context.Context, q db.Querier, person int64) ([]Credential, error) {
	var out []Credential
	for _, of := range credentialKinds {
		found, err := of(ctx, s, q, person)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// removeCredentials removes a person's credentials except those with the given IDs.
func (s *Service) removeCredentials(ctx context.Context, tx *db.Tx, person int64, keep []string) error {
	all, err := s.credentials(ctx, tx, person)
	if err != nil {
		return err
	}
	for _, c := range all {
		if slices.Contains(keep, c.ID) {
			continue
		}
		if err := c.remove(ctx, tx); err != nil {
			return err
		}
	}
	return s.endPending(ctx, tx, person)
}

// endPending ends what would become a credential: links that set a password or confirm an address, and authorization
// codes that are not yet redeemed.
func (s *Service) endPending(ctx context.Context, tx *db.Tx, person int64) error {
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

// removeSignIns removes every credential of a person, revokes the keys and invitations that the account issued, and
// ends the sessions.
func (s *Service) removeSignIns(ctx context.Context, tx *db.Tx, p *Person) error {
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
	return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: p.ID}, "person.sign_ins_removed", id(p.ID), detail)
}

func passkeysOf(ctx context.Context, _ *Service, q db.Querier, person int64) ([]Credential, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, c *Credential) error {
		var key, created, used int64
		err := rows.Scan(&key, &c.Name, &created, &used)
		c.ID, c.Kind, c.CreatedAt, c.UsedAt = "passkey-"+id(key), "Passkey", db.Time(created), db.Time(used)
		c.remove = func(ctx context.Context, tx *db.Tx) error {
			if _, err := tx.Exec(ctx, `DELETE FROM passkeys WHERE id = ? AND person_id = ?`, key, person); err != nil {
				return fmt.Errorf("removing a passkey: %w", err)
			}
			return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "passkey.removed", id(key), nil)
		}
		return err
	}, `SELECT id, name, created_at, used_at FROM passkeys WHERE person_id = ? ORDER BY id`, person)
	if err != nil {
		return nil, fmt.Errorf("reading a person's passkeys: %w", err)
	}
	return out, nil
}

func assistantsOf(ctx context.Context, _ *Service, q db.Querier, person int64) ([]Credential, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, c *Credential) error {
		var connection, team, created, used int64
		var name, teamName string
		err := rows.Scan(&connection, &team, &name, &teamName, &created, &used)
		c.ID, c.Kind, c.CreatedAt, c.UsedAt = "assistant-"+id(connection), "Assistant", db.Time(created), db.Time(used)
		c.Name = name + " (" + teamName + ")"
		c.remove = func(ctx context.Context, tx *db.Tx) error {
			if _, err := tx.Exec(ctx,
				`UPDATE api_keys SET revoked_at = ? WHERE id = ? AND team_id = ? AND person_id = ?`,
				db.Micros(tx.Now()), connection, team, person); err != nil {
				return fmt.Errorf("ending an assistant's connection: %w", err)
			}
			return auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: person}, "assistant.revoked", id(connection),
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
