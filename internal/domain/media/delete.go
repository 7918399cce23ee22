package media

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
)

// Use is a post that uses an item.
type Use struct {
	PostID, Status, Excerpt string
	Kind                    UseKind
}

// UseKind says how a use affects the deletion of the file.
type UseKind string

// The kinds of uses. Uses sorts posts by them.
const (
	// UseSending means that the post is being sent or that its outcome is unknown. The file cannot be deleted.
	UseSending UseKind = "1 now"
	// UseScheduled means that the post is scheduled, waits for a client's approval or is a series template. The file
	// must be removed from the post first.
	UseScheduled UseKind = "2 ahead"
	UseInDraft   UseKind = "3 draft"  // a plain draft; the file is removed from it
	UsePublished UseKind = "4 before" // a published post, which keeps the file's name, type and size
)

// MaxUses is the maximum number of posts that Uses returns.
const MaxUses = 50

const (
	// usesItemSQL is an SQL condition that selects posts that use an item, for all their accounts or for some of them.
	usesItemSQL = `p.team_id = ? AND p.id IN (SELECT post_id FROM post_media WHERE media_id = ?
		UNION SELECT post_id FROM post_target_media WHERE media_id = ?)`
	// plainDraftSQL is an SQL condition that selects drafts that an item may be removed from. It excludes posts shown
	// to a client and series templates.
	plainDraftSQL = `p.status = 'draft' AND p.approval = 'not_needed' AND p.is_template = 0`
	// sendingSQL is an SQL condition that selects posts that are being sent or whose outcome is unknown. A delivery
	// that only polls its status no longer needs the file.
	sendingSQL = `(p.status = 'processing' OR EXISTS (SELECT 1 FROM deliveries d WHERE d.post_id = p.id
		AND d.phase IN ('planned', 'prepared', 'committing', 'doubtful'))
		OR EXISTS (SELECT 1 FROM post_targets t WHERE t.post_id = p.id AND t.state IN ('sending', 'unconfirmed')))`
	usesQuery = `SELECT p.id, p.status, p.excerpt, CASE WHEN ` + sendingSQL + ` THEN '1 now' WHEN ` + plainDraftSQL +
		` THEN '3 draft' WHEN p.status IN ('draft', 'scheduled') THEN '2 ahead' ELSE '4 before' END
		FROM posts p WHERE ` + usesItemSQL + ` ORDER BY 4, p.id DESC LIMIT ?`
)

// Uses returns the posts that use an item. Posts that block its deletion come first.
func (s *Service) Uses(ctx context.Context, call operation.Call, id int64) ([]Use, error) {
	if err := requireLibrary(call); err != nil {
		return nil, err
	}
	return uses(ctx, s.db, call.TeamID, id, MaxUses)
}

func uses(ctx context.Context, q db.Querier, team, id int64, limit int) ([]Use, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, u *Use) error {
		return rows.Scan(&u.PostID, &u.Status, &u.Excerpt, &u.Kind)
	}, usesQuery, team, id, id, limit)
	if err != nil {
		return nil, fmt.Errorf("finding the posts that have a media item: %w", err)
	}
	return out, nil
}

const retryAfter = time.Minute // most posts are sent by then

var (
	errInUse = apierr.BadState("in_use",
		"This file is used by scheduled posts, posts shown to a client, or series. Remove it from them first.")
	errSending = apierr.BadState("sending",
		"A post with this file is being sent, or its outcome is unknown. Try again once it is published or has "+
			"failed. If it is unconfirmed, record the outcome on the post's page.").WithRetryAfter(retryAfter)
)

// Delete removes an item from the library and from the plain drafts that use it. If a published post used the file,
// its name, type and size are kept for the record of that post. Scheduled posts and posts being sent block the
// deletion. The sweep deletes the bytes.
func (s *Service) Delete(ctx context.Context, call operation.Call, id int64) error {
	return s.runChange(ctx, call, "media.deleted", id, func(ctx context.Context, tx *db.Tx) error {
		// Lock in the same order as uploads: the team's storage, then the item.
		if _, err := s.lockUsage(ctx, tx, call.TeamID); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `SELECT id FROM media WHERE id = ? AND team_id = ? AND deleted_at = 0`+s.db.ForUpdate(),
			id, call.TeamID).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return apierr.ItemNotFound()
		}
		if err != nil {
			return fmt.Errorf("locking a media item: %w", err)
		}
		wasSent, err := s.removeFromDrafts(ctx, tx, call.TeamID, id)
		if err != nil {
			return err
		}
		return s.deleteRow(ctx, tx, call, id, wasSent)
	})
}

// removeFromDrafts removes an item from a team's plain drafts and reports whether published posts used it. It returns
// an error if another post blocks the deletion.
func (s *Service) removeFromDrafts(ctx context.Context, tx *db.Tx, team, id int64) (bool, error) {
	// Lock the posts, so that none of them is scheduled or sent concurrently.
	if _, err := db.All(ctx, tx, func(rows *sql.Rows, post *string) error {
		return rows.Scan(post)
	}, `SELECT p.id FROM posts p WHERE `+usesItemSQL+` ORDER BY p.id`+s.db.ForUpdate(), team, id, id); err != nil {
		return false, fmt.Errorf("locking the posts that have a file: %w", err)
	}
	first, err := uses(ctx, tx, team, id, 1)
	switch {
	case err != nil:
		return false, err
	case len(first) == 0:
		return false, nil
	case first[0].Kind == UseSending:
		return false, errSending
	case first[0].Kind == UseScheduled:
		return false, errInUse
	}
	const plainDraftsFrom = `FROM posts p WHERE p.team_id = ? AND ` + plainDraftSQL + ` AND p.id `
	_, err = tx.Exec(ctx,
		`UPDATE posts SET updated_at = ? WHERE id IN (SELECT p.id `+plainDraftsFrom+
			`IN (SELECT post_id FROM post_media WHERE media_id = ? UNION SELECT post_id FROM post_target_media
				WHERE media_id = ?))`,
		db.Micros(tx.Now()), team, id, id)
	if err != nil {
		return false, fmt.Errorf("recording that drafts change: %w", err)
	}
	for _, table := range []string{"post_media", "post_target_media"} {
		if _, err := tx.Exec(ctx,
			`DELETE FROM `+table+` WHERE media_id = ? AND EXISTS (SELECT 1 `+plainDraftsFrom+`= post_id)`,
			id, team); err != nil {
			return false, fmt.Errorf("removing a file from drafts: %w", err)
		}
	}
	left, err := uses(ctx, tx, team, id, 1)
	return len(left) > 0, err
}

// deleteRow deletes an item's row and queues its bytes for the sweep. If wasSent is set, it keeps the row but clears
// the columns that published posts do not need.
func (s *Service) deleteRow(ctx context.Context, tx *db.Tx, call operation.Call, id int64, wasSent bool) error {
	i, err := findItem(ctx, tx, call.TeamID, id)
	if err != nil {
		return err
	}
	type step struct {
		statement string
		args      []any
	}
	row := step{`DELETE FROM media WHERE id = ? AND team_id = ?`, []any{id, call.TeamID}}
	if wasSent {
		name := "deleted/" + formatID(id) // a placeholder, unique per row
		row = step{`UPDATE media SET deleted_at = ?, deleted_by = ?, sha256 = ?, original_sha256 = NULL, blob = ?,
		thumbnail = '', thumbnail_type = '', search = '', alt = '', detail = '{}', folder_id = 0
		WHERE id = ? AND team_id = ?`,
			[]any{db.Micros(tx.Now()), call.PersonID, []byte(name), name, id, call.TeamID}}
	}
	for _, step := range []step{
		row,
		{`UPDATE storage SET used_bytes = used_bytes - ? WHERE team_id = ?`, []any{i.Size, call.TeamID}},
		{`INSERT INTO media_pending (blob, deleting, created_at) VALUES (?, 1, ?)`, []any{i.Blob, db.Micros(tx.Now())}},
	} {
		if _, err := tx.Exec(ctx, step.statement, step.args...); err != nil {
			return fmt.Errorf("deleting a media item: %w", err)
		}
	}
	return dropDerived(ctx, tx, `media_id = ? AND team_id = ?`, id, call.TeamID)
}

// Deletion records who deleted the file of a published post, and when.
type Deletion struct {
	Name, By string // By is empty if that person's account was deleted
	At       time.Time
}

// Deletions returns the deletions of the team's items with these IDs, by item ID. It omits items that were not deleted.
func (s *Service) Deletions(ctx context.Context, team int64, ids []int64) (map[int64]Deletion, error) {
	out := map[int64]Deletion{}
	if len(ids) == 0 {
		return out, nil
	}
	type row struct {
		Deletion
		id int64
	}
	deletions, err := db.All(ctx, s.db, func(rows *sql.Rows, r *row) error {
		var at int64
		err := rows.Scan(&r.id, &r.Name, &at, &r.By)
		r.At = db.Time(at)
		return err
	}, `SELECT m.id, m.name, m.deleted_at, COALESCE(x.name, '') FROM media m
		LEFT JOIN people x ON x.id = m.deleted_by
		WHERE m.team_id = ? AND m.deleted_at > 0 AND m.id IN (`+db.Placeholders(len(ids))+`)`, db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading which files were deleted: %w", err)
	}
	for _, r := range deletions {
		out[r.id] = r.Deletion
	}
	return out, nil
}
