package erasure

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

var (
	errOwnsTeams = apierr.BadState("owner",
		"You own a team. Make another member the owner or delete the team before you delete your account.")
	errOwner = apierr.BadState("owner", "You own this team. Make another member the owner, or delete the team.")
)

// Leave removes a person from a team. It returns not_found if the person is not a member, and an error if the person is
// the owner.
func (s *Service) Leave(ctx context.Context, person, team int64) error {
	return s.DB.InTx(ctx, "leaving.leave", func(ctx context.Context, tx *db.Tx) error {
		var role string
		err := tx.QueryRow(ctx,
			`SELECT m.role FROM memberships m JOIN teams t ON t.id = m.team_id WHERE m.team_id = ? AND m.person_id = ?`+
				s.DB.ForUpdate(), team, person).Scan(&role)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return apierr.ItemNotFound()
		case err != nil:
			return fmt.Errorf("looking up a member who leaves: %w", err)
		case role == "owner":
			return errOwner
		}
		if err := ensureOperatorRemains(ctx, tx, team, person, errLastOperator); err != nil {
			return err
		}
		if err := removeMember(ctx, tx, person, team); err != nil {
			return err
		}
		return bumpAccessVersion(ctx, tx)
	})
}

// removeMember removes a person from a team. The person's API keys and connections in the team lose their access,
// unless they were already revoked.
func removeMember(ctx context.Context, tx *db.Tx, person, team int64) error {
	if _, err := execAll(ctx, tx, []any{team, person},
		`UPDATE api_keys SET lost = 'membership_lost' WHERE team_id = ? AND person_id = ? AND revoked_at = 0`,
		`DELETE FROM invitations WHERE team_id = ? AND invited_by = ? AND accepted_at = 0`,
		`DELETE FROM notices WHERE team_id = ? AND person_id = ?`,
		`DELETE FROM report_links WHERE recipient_id IN (SELECT id FROM report_recipients WHERE team_id = ?
			AND person_id = ?)`,
		`DELETE FROM report_recipients WHERE team_id = ? AND person_id = ?`,
		`DELETE FROM unsaved_forms WHERE team_id = ? AND person_id = ?`,
		`DELETE FROM memberships WHERE team_id = ? AND person_id = ?`); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: person}, "member.left",
		strconv.FormatInt(person, 10), nil)
}

// DeletePerson deletes a person's account. It returns an error if the person owns a team or is the only operator. Items
// that the person created for teams are kept.
func (s *Service) DeletePerson(ctx context.Context, person int64) error {
	return s.DB.InTx(ctx, "leaving.delete_person", func(ctx context.Context, tx *db.Tx) error {
		if err := ensureOperatorRemains(ctx, tx, 0, person, errOnlyOperator); err != nil {
			return err
		}
		if err := s.erasePerson(ctx, tx, person); err != nil {
			return err
		}
		return bumpAccessVersion(ctx, tx)
	})
}

// erasePerson deletes a person's memberships, credentials and personal data. The row in people is kept, with only the
// ID.
func (s *Service) erasePerson(ctx context.Context, tx *db.Tx, person int64) error {
	var email string
	if err := tx.QueryRow(ctx, `SELECT email FROM people WHERE id = ? AND deleted_at = 0`+s.DB.ForUpdate(),
		person).Scan(&email); err != nil {
		return apierr.ItemNotFound()
	}
	var ownedTeams int64
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM memberships WHERE person_id = ? AND role = 'owner'`,
		person).Scan(&ownedTeams); err != nil {
		return fmt.Errorf("counting the teams that a person owns: %w", err)
	}
	if ownedTeams > 0 {
		return errOwnsTeams
	}
	teams, err := db.All(ctx, tx, scanID, `SELECT team_id FROM memberships WHERE person_id = ? ORDER BY team_id`,
		person)
	if err != nil {
		return fmt.Errorf("reading a person's teams: %w", err)
	}
	for _, team := range teams {
		if err := removeMember(ctx, tx, person, team); err != nil {
			return err
		}
	}
	if _, err := execAll(ctx, tx, []any{person},
		`DELETE FROM passkeys WHERE person_id = ?`,
		`DELETE FROM totp_recovery_codes WHERE person_id = ?`,
		`DELETE FROM totp_secrets WHERE person_id = ?`,
		`DELETE FROM recoveries WHERE person_id = ?`,
		`DELETE FROM email_proofs WHERE person_id = ?`,
		`DELETE FROM directory_identities WHERE person_id = ?`,
		`DELETE FROM sessions WHERE person_id = ?`,
		`DELETE FROM known_browsers WHERE person_id = ?`,
		`DELETE FROM connect_attempts WHERE person_id = ?`,
		`DELETE FROM notices WHERE person_id = ?`,
		`DELETE FROM notice_choices WHERE person_id = ?`,
		`DELETE FROM notice_mutes WHERE person_id = ?`,
		`DELETE FROM unsaved_forms WHERE person_id = ?`,
		`DELETE FROM invitations WHERE accepted_by = ?`,
		`DELETE FROM invitations WHERE waiting_person = ?`,
		`DELETE FROM oauth_tokens WHERE grant_id IN (SELECT id FROM oauth_grants WHERE person_id = ?)`,
		`DELETE FROM oauth_grants WHERE person_id = ?`,
		`UPDATE people SET name = '', email = 'deleted ' || id, password_hash = '', passkey_handle = NULL,
		operator = 0, epoch = epoch + 1, email_proved_at = 0 WHERE id = ?`); err != nil {
		return err
	}
	if _, err := execAll(ctx, tx, []any{email},
		`DELETE FROM report_links WHERE recipient_id IN (SELECT id FROM report_recipients WHERE email = ?)`,
		`DELETE FROM report_recipients WHERE email = ?`, `DELETE FROM invitations WHERE email = ?`); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE people SET held_at = ?, deleted_at = ? WHERE id = ?`, db.Micros(tx.Now()),
		db.Micros(tx.Now()), person); err != nil {
		return fmt.Errorf("deleting a person: %w", err)
	}
	return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: person}, "person.deleted",
		strconv.FormatInt(person, 10), nil)
}
