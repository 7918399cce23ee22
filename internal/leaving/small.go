package leaving

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"pressroom/internal/db"
	"pressroom/internal/event"
	"pressroom/internal/fault"
)

var (
	errNoDraft = fault.BadState("not_a_draft", "Only a draft that never went out is deleted. Cancel a scheduled post first.")
	errSeries  = fault.BadState("recurring_template", "This is what a recurring series is made from. End the series instead.")
	errWorks   = fault.BadState("works", "Only a key that was revoked is forgotten. Revoke it first.")
)

// DeleteDraft deletes a draft of a team that never went out, in a person's name.
func (s *Service) DeleteDraft(ctx context.Context, person, team int64, post string) error {
	return s.DB.Write(ctx, "leaving.delete_draft", func(ctx context.Context, tx *db.Tx) error {
		var status string
		var template, sent int64
		err := tx.QueryRow(ctx, `SELECT status, is_template, (SELECT COUNT(*) FROM deliveries d WHERE d.post_id = posts.id) FROM posts WHERE id = ? AND team_id = ?`+s.DB.ForUpdate(), post, team).Scan(&status, &template, &sent)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return fault.Missing()
		case err != nil:
			return fmt.Errorf("reading a draft: %w", err)
		case template > 0:
			return errSeries
		case status != "draft" || sent > 0:
			return errNoDraft
		}
		if _, err := removePosts(ctx, tx, []string{post}); err != nil {
			return err
		}
		return event.Record(ctx, tx, team, event.Actor{PersonID: person}, "post.deleted", post, nil)
	})
}

// ForgetKey deletes a revoked key of a team for its owner. What it did stays in the record, by the key's number.
func (s *Service) ForgetKey(ctx context.Context, person, team, key int64) error {
	return s.DB.Write(ctx, "leaving.forget_key", func(ctx context.Context, tx *db.Tx) error {
		var revoked int64
		err := tx.QueryRow(ctx, `SELECT k.revoked_at FROM api_keys k JOIN memberships m ON m.team_id = k.team_id AND m.person_id = ? AND m.role = 'owner' WHERE k.id = ? AND k.team_id = ?`, person, key, team).Scan(&revoked)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return fault.Missing()
		case err != nil:
			return fmt.Errorf("reading a key: %w", err)
		case revoked == 0:
			return errWorks
		}
		if _, err := tx.Exec(ctx, `DELETE FROM pauses WHERE scope = 'key' AND target = ?`, key); err != nil {
			return fmt.Errorf("ending a key's pauses: %w", err)
		}
		if _, err := tx.Exec(ctx, `DELETE FROM api_keys WHERE id = ? AND team_id = ?`, key, team); err != nil {
			return fmt.Errorf("forgetting a key: %w", err)
		}
		return event.Record(ctx, tx, team, event.Actor{PersonID: person}, "key.forgotten", strconv.FormatInt(key, 10), nil)
	})
}
