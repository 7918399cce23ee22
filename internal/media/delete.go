package media

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom/internal/db"
	"pressroom/internal/fault"
	"pressroom/internal/operation"
)

// Use is a post that has an item.
type Use struct {
	PostID, Status, Excerpt string
	Draft                   bool // which loses the item where that is deleted; all others keep it from being deleted
}

// MostUses is how many posts Uses tells of.
const MostUses = 50

// usesOf are the posts that have an item, for all their accounts or for some: those that keep it from being deleted first.
const usesOf = `SELECT p.id, p.status, p.excerpt, CASE WHEN ` + loses + ` THEN 1 ELSE 0 END FROM posts p
	WHERE p.team_id = ? AND p.id IN (SELECT post_id FROM post_media WHERE media_id = ? UNION SELECT post_id FROM post_target_media WHERE media_id = ?)
	ORDER BY 4, p.id DESC LIMIT ?`

// loses is the condition of drafts that may lose an item: what a client was asked to approve stays as it is, and so does
// what a series repeats.
const loses = `p.status = 'draft' AND p.approval = 'not_needed' AND p.is_template = 0`

// Uses tells where an item is used.
func (s *Service) Uses(ctx context.Context, call operation.Call, id int64) ([]Use, error) {
	if err := mayLook(call); err != nil {
		return nil, err
	}
	return uses(ctx, s.db, call.TeamID, id, MostUses)
}

func uses(ctx context.Context, q db.Querier, team, id int64, most int) ([]Use, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, u *Use) error {
		var draft int64
		err := rows.Scan(&u.PostID, &u.Status, &u.Excerpt, &draft)
		u.Draft = draft != 0
		return err
	}, usesOf, team, id, id, most)
	if err != nil {
		return nil, fmt.Errorf("looking for the posts that have a media item: %w", err)
	}
	return out, nil
}

var errInUse = fault.BadState("in_use", "Posts that are no plain drafts have this file: scheduled ones need it, and the record of published ones keeps it. Take it out of those that can still be changed first.")

// Delete takes an item out of the library and out of the drafts that have it. What a post that is no plain draft has
// stays. The sweep takes the bytes away.
func (s *Service) Delete(ctx context.Context, call operation.Call, id int64) error {
	return s.change(ctx, call, "media.deleted", id, func(ctx context.Context, tx *db.Tx) error {
		// First the row that arrivals of files take, then the item's own, as they do.
		if _, err := s.used(ctx, tx, call.TeamID); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `SELECT id FROM media WHERE id = ? AND team_id = ?`+s.db.ForUpdate(), id, call.TeamID).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return fault.Missing()
		}
		if err != nil {
			return fmt.Errorf("holding a media item: %w", err)
		}
		if err := takeOut(ctx, tx, call.TeamID, id); err != nil {
			return err
		}
		return s.forget(ctx, tx, call.TeamID, id)
	})
}

// takeOut takes an item out of the drafts of a team, or refuses it.
func takeOut(ctx context.Context, tx *db.Tx, team, id int64) error {
	const mine = `FROM posts p WHERE p.team_id = ? AND ` + loses + ` AND p.id `
	// Held, so that none of them is scheduled meanwhile.
	_, err := tx.Exec(ctx, `UPDATE posts SET updated_at = ? WHERE id IN (SELECT p.id `+mine+`IN (SELECT post_id FROM post_media WHERE media_id = ? UNION SELECT post_id FROM post_target_media WHERE media_id = ?))`,
		db.Micros(tx.Now()), team, id, id)
	if err != nil {
		return fmt.Errorf("holding drafts: %w", err)
	}
	found, err := uses(ctx, tx, team, id, 1)
	if err != nil {
		return err
	}
	if len(found) > 0 && !found[0].Draft { // those that keep it come first
		return errInUse
	}
	for _, table := range []string{"post_media", "post_target_media"} {
		if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE media_id = ? AND EXISTS (SELECT 1 `+mine+`= post_id)`, id, team); err != nil {
			return fmt.Errorf("taking a file out of drafts: %w", err)
		}
	}
	return nil
}

// forget takes an item's row away and has its bytes swept.
func (s *Service) forget(ctx context.Context, tx *db.Tx, team, id int64) error {
	i, err := item(ctx, tx, team, id)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		statement string
		args      []any
	}{
		{`DELETE FROM media WHERE id = ? AND team_id = ?`, []any{id, team}},
		{`UPDATE storage SET used_bytes = used_bytes - ? WHERE team_id = ?`, []any{i.Size, team}},
		{`INSERT INTO media_pending (blob, doomed, created_at) VALUES (?, 1, ?)`, []any{i.Blob, db.Micros(tx.Now())}},
	} {
		if _, err := tx.Exec(ctx, step.statement, step.args...); err != nil {
			return fmt.Errorf("deleting a media item: %w", err)
		}
	}
	return nil
}
