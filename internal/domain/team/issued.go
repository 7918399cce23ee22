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

// Values of Credential.Kind for issued items.
const (
	IssuedKey        = "API key"
	IssuedInvitation = "Invitation"
)

// ListIssued returns the valid API keys and open invitations that a person created in all teams, newest first within
// each kind. They belong to the teams, so a password change revokes only those that the person selects.
func (s *Service) ListIssued(ctx context.Context, person int64) ([]Credential, error) {
	return s.listIssued(ctx, s.db, person)
}

func (s *Service) listIssued(ctx context.Context, q db.Querier, person int64) ([]Credential, error) {
	keys, err := s.listKeysBy(ctx, q, person)
	if err != nil {
		return nil, err
	}
	invitations, err := s.listInvitationsBy(ctx, q, person)
	return append(keys, invitations...), err
}

// PasswordChangedAt returns when a person's password was last changed or recovered. It is zero if that never happened.
func (s *Service) PasswordChangedAt(ctx context.Context, person int64) (time.Time, error) {
	var at int64
	err := s.db.QueryRow(ctx, `SELECT COALESCE(MAX(at), 0) FROM events
		WHERE team_id = 0 AND kind IN ('person.password_changed', 'person.recovered') AND subject = ?`,
		formatID(person)).Scan(&at)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading when a password was changed: %w", err)
	}
	return db.Time(at), nil
}

// applyChoice removes the credentials that are not kept, and revokes the selected keys and invitations.
func (s *Service) applyChoice(ctx context.Context, tx *db.Tx, person int64, choice CredentialChoice) error {
	if err := s.removeCredentials(ctx, tx, person, choice.Keep); err != nil {
		return err
	}
	return s.revokeIssued(ctx, tx, person, choice.Revoke)
}

// revokeIssued revokes the keys and invitations with the given IDs. It ignores IDs that the person did not issue.
func (s *Service) revokeIssued(ctx context.Context, tx *db.Tx, person int64, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	credentials, err := s.listIssued(ctx, tx, person)
	if err != nil {
		return err
	}
	for _, c := range credentials {
		if !slices.Contains(ids, c.ID) {
			continue
		}
		if err := c.remove(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// maxRevokedNames is the maximum number of names of revoked items in an audit log entry.
const maxRevokedNames = 20

// revokeAllIssued revokes all keys and invitations that a person issued. It returns the details for an audit log entry.
func (s *Service) revokeAllIssued(ctx context.Context, tx *db.Tx, person int64) (map[string]any, error) {
	credentials, err := s.listIssued(ctx, tx, person)
	if err != nil || len(credentials) == 0 {
		return nil, err
	}
	var names []string
	for _, c := range credentials {
		if err := c.remove(ctx, tx); err != nil {
			return nil, err
		}
		if len(names) < maxRevokedNames {
			names = append(names, c.Kind+" "+c.Name)
		}
	}
	return map[string]any{"revoked": names, "more": len(credentials) - len(names)}, nil
}

// listKeysBy lists the valid API keys that a person created.
func (s *Service) listKeysBy(ctx context.Context, q db.Querier, person int64) ([]Credential, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, c *Credential) error {
		var key, team, createdAt, usedAt int64
		var name, teamName string
		err := rows.Scan(&key, &team, &name, &teamName, &createdAt, &usedAt)
		c.ID, c.Kind, c.CreatedAt, c.UsedAt = "key-"+formatID(key), IssuedKey, db.Time(createdAt), db.Time(usedAt)
		if last := s.LastUse(key); last.After(c.UsedAt) {
			c.UsedAt = last
		}
		c.Name = name + " (" + teamName + ")"
		c.remove = func(ctx context.Context, tx *db.Tx) error {
			if _, err := tx.Exec(ctx,
				`UPDATE api_keys SET revoked_at = ? WHERE id = ? AND team_id = ? AND person_id = ? AND revoked_at = 0`,
				db.Micros(tx.Now()), key, team, person); err != nil {
				return fmt.Errorf("revoking a key: %w", err)
			}
			return auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: person}, "key.revoked", formatID(key), nil)
		}
		return err
	}, `SELECT k.id, k.team_id, k.name, t.name, k.created_at, k.used_at FROM api_keys k JOIN teams t ON t.id = k.team_id
		WHERE k.person_id = ? AND k.kind = 'key' AND k.revoked_at = 0 AND k.lost = '' AND (k.expires_at = 0 OR
		k.expires_at > ?) ORDER BY k.id DESC`, person, db.Micros(s.db.Now()))
	if err != nil {
		return nil, fmt.Errorf("reading the keys that a person created: %w", err)
	}
	return out, nil
}

// listInvitationsBy lists the open invitations that a person sent.
func (s *Service) listInvitationsBy(ctx context.Context, q db.Querier, person int64) ([]Credential, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, c *Credential) error {
		var invitation, team, createdAt int64
		var email, role, teamName string
		err := rows.Scan(&invitation, &team, &email, &role, &teamName, &createdAt)
		c.ID, c.Kind, c.CreatedAt = "invitation-"+formatID(invitation), IssuedInvitation, db.Time(createdAt)
		c.Name = email + " as " + role + " (" + teamName + ")"
		c.remove = func(ctx context.Context, tx *db.Tx) error {
			if _, err := tx.Exec(ctx,
				`UPDATE invitations SET revoked_at = ?
		WHERE id = ? AND team_id = ? AND invited_by = ? AND accepted_at = 0 AND revoked_at = 0`, db.Micros(tx.Now()),
				invitation, team, person); err != nil {
				return fmt.Errorf("revoking an invitation: %w", err)
			}
			return auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: person}, "invitation.revoked",
				formatID(invitation), nil)
		}
		return err
	}, `SELECT i.id, i.team_id, i.email, i.role, t.name, i.created_at FROM invitations i
		JOIN teams t ON t.id = i.team_id
		WHERE i.invited_by = ? AND `+OpenInvitation+` ORDER BY i.id DESC`, person, db.Micros(s.db.Now()))
	if err != nil {
		return nil, fmt.Errorf("reading the invitations that a person sent: %w", err)
	}
	return out, nil
}
