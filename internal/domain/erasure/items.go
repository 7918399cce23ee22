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
	errNotDraft = apierr.BadState("not_a_draft",
		"Only drafts and scheduled posts can be deleted. This post was already sent to a network.")
	errOccurrence = apierr.BadState("recurring", "This post belongs to a series. Skip it first, then delete the draft.")
	errSeries     = apierr.BadState("recurring_template",
		"This post is the template of a series. End the series instead.")
	errAssistantActive = apierr.BadState("works", "Only a disconnected assistant can be deleted. Disconnect it first.")
	errKeyActive       = apierr.BadState("works", "Only a revoked key can be deleted. Revoke it first.")
)

// DeletePost deletes a draft or a scheduled post that was never sent to a network, on behalf of a person.
func (s *Service) DeletePost(ctx context.Context, person, team int64, post string) error {
	return s.DB.InTx(ctx, "leaving.delete_draft", func(ctx context.Context, tx *db.Tx) error {
		var status string
		var isTemplate, occursAt, sentAt int64
		err := tx.QueryRow(ctx,
			`SELECT status, is_template, occurs_at, (SELECT COUNT(*) FROM deliveries d WHERE d.post_id = posts.id) FROM posts
		WHERE id = ? AND team_id = ?`+s.DB.ForUpdate(), post, team).Scan(&status, &isTemplate, &occursAt, &sentAt)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return apierr.ItemNotFound()
		case err != nil:
			return fmt.Errorf("reading a draft: %w", err)
		case isTemplate > 0:
			return errSeries
		case status != "draft" && status != "scheduled" || sentAt > 0:
			return errNotDraft
		case status == "scheduled" && occursAt > 0:
			return errOccurrence
		}
		if _, err := removePosts(ctx, tx, []string{post}); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: person}, "post.deleted", post, nil)
	})
}

// DeleteKey deletes a revoked key, on behalf of the team's owner. Its entries in the audit log keep the key's ID.
func (s *Service) DeleteKey(ctx context.Context, person, team, key int64) error {
	return s.deleteKey(ctx, person, team, key, "key", `k.revoked_at > 0`, errKeyActive)
}

// DeleteAssistant deletes an ended connection, on behalf of the team's owner. Its entries in the audit log keep the
// connection's ID.
func (s *Service) DeleteAssistant(ctx context.Context, person, team, connection int64) error {
	return s.deleteKey(ctx, person, team, connection, "assistant", `k.revoked_at > 0 OR k.lost <> ''`, errAssistantActive)
}

// deleteKey deletes a key or connection. It returns errActive if the SQL condition endedCondition is false.
func (s *Service) deleteKey(ctx context.Context, person, team, key int64, kind, endedCondition string, errActive error) error {
	return s.DB.InTx(ctx, "leaving.forget_"+kind, func(ctx context.Context, tx *db.Tx) error {
		var ended int64
		err := tx.QueryRow(ctx,
			`SELECT CASE WHEN `+endedCondition+
				` THEN 1 ELSE 0 END FROM api_keys k JOIN memberships m ON m.team_id = k.team_id AND m.person_id = ? AND m.role = 'owner'
			WHERE k.id = ? AND k.team_id = ? AND k.kind = ?`, person, key, team, kind).Scan(&ended)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return apierr.ItemNotFound()
		case err != nil:
			return fmt.Errorf("reading a key: %w", err)
		case ended == 0:
			return errActive
		}
		if _, err := tx.Exec(ctx, `DELETE FROM pauses WHERE scope = 'key' AND target = ?`, key); err != nil {
			return fmt.Errorf("deleting the pauses of a key: %w", err)
		}
		if _, err := tx.Exec(ctx, `DELETE FROM api_keys WHERE id = ? AND team_id = ?`, key, team); err != nil {
			return fmt.Errorf("deleting a key: %w", err)
		}
		if err := bumpAccessVersion(ctx, tx); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: person}, kind+".forgotten",
			strconv.FormatInt(key, 10), nil)
	})
}
