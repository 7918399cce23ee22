package media

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/platform/db"
)

// Use is a post that has an item.
type Use struct {
	PostID, Status, Excerpt string
	Kind                    UseKind
}

// UseKind says what a post has to do with the deletion of a file that it has.
type UseKind string

// The kinds of uses, those that stand most in the way first.
const (
	// it is on its way to a network, or nobody knows whether it arrived: the file stays until that is over
	UsedNow UseKind = "1 now"
	// scheduled, shown to a client, or what a series repeats: a person takes the file out of it first
	UsedAhead   UseKind = "2 ahead"
	UsedInDraft UseKind = "3 draft"  // a plain draft, which loses the file with it
	UsedBefore  UseKind = "4 before" // it was sent: its record keeps what the file was
)

// MostUses is how many posts Uses tells of.
const MostUses = 50

const (
	// having is the condition of posts that have an item, for all their accounts or for some.
	having = `p.team_id = ? AND p.id IN (SELECT post_id FROM post_media WHERE media_id = ? UNION SELECT post_id FROM post_target_media WHERE media_id = ?)`
	// loses is the condition of drafts that may lose an item: what a client was asked to approve stays as it is, and
	// so does what a series repeats.
	loses = `p.status = 'draft' AND p.approval = 'not_needed' AND p.is_template = 0`
	// moving is the condition of posts that are under way, or of which nobody knows whether they arrived. One that
	// only asks where it stands needs no file any more.
	moving = `(p.status = 'processing' OR EXISTS (SELECT 1 FROM deliveries d WHERE d.post_id = p.id AND d.phase IN ('planned', 'prepared', 'committing', 'doubtful'))
		OR EXISTS (SELECT 1 FROM post_targets t WHERE t.post_id = p.id AND t.state IN ('sending', 'unconfirmed')))`
	usesOf = `SELECT p.id, p.status, p.excerpt, CASE WHEN ` + moving + ` THEN '1 now' WHEN ` + loses +
		` THEN '3 draft' WHEN p.status IN ('draft', 'scheduled') THEN '2 ahead' ELSE '4 before' END
		FROM posts p WHERE ` + having + ` ORDER BY 4, p.id DESC LIMIT ?`
)

// Uses tells where an item is used, what stands most in the way of its deletion first.
func (s *Service) Uses(ctx context.Context, call operation.Call, id int64) ([]Use, error) {
	if err := mayLook(call); err != nil {
		return nil, err
	}
	return uses(ctx, s.db, call.TeamID, id, MostUses)
}

func uses(ctx context.Context, q db.Querier, team, id int64, most int) ([]Use, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, u *Use) error {
		return rows.Scan(&u.PostID, &u.Status, &u.Excerpt, &u.Kind)
	}, usesOf, team, id, id, most)
	if err != nil {
		return nil, fmt.Errorf("looking for the posts that have a media item: %w", err)
	}
	return out, nil
}

const tryAgain = time.Minute // most posts are through by then

var (
	errInUse = apierr.BadState("in_use",
		"Scheduled posts, posts that a client was shown or series have this file. Take it out of them first.")
	errMoves = apierr.BadState("sending",
		"A post with this file is being sent, or a network has not said whether it has it. Try again once it has gone "+
			"out or failed; where it is not confirmed, say on its page what became of it.").After(tryAgain)
)

// Delete takes an item out of the library and out of the plain drafts that have it. Of a file that went out with a post
// the name, type and size stay, for the record of that post. What is ahead of a post or under way keeps its file. The
// sweep takes the bytes away.
func (s *Service) Delete(ctx context.Context, call operation.Call, id int64) error {
	return s.change(ctx, call, "media.deleted", id, func(ctx context.Context, tx *db.Tx) error {
		// First the row that arrivals of files take, then the item's own, as they do.
		if _, err := s.used(ctx, tx, call.TeamID); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `SELECT id FROM media WHERE id = ? AND team_id = ? AND deleted_at = 0`+s.db.ForUpdate(),
			id, call.TeamID).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return apierr.Missing()
		}
		if err != nil {
			return fmt.Errorf("holding a media item: %w", err)
		}
		wasSent, err := s.takeOut(ctx, tx, call.TeamID, id)
		if err != nil {
			return err
		}
		return s.forget(ctx, tx, call, id, wasSent)
	})
}

// takeOut takes an item out of the plain drafts of a team, or refuses it. It tells whether posts that were sent have
// it.
func (s *Service) takeOut(ctx context.Context, tx *db.Tx, team, id int64) (bool, error) {
	// Held, so that none of them is scheduled or sent again meanwhile.
	if _, err := db.All(ctx, tx, func(rows *sql.Rows, post *string) error {
		return rows.Scan(post)
	}, `SELECT p.id FROM posts p WHERE `+having+` ORDER BY p.id`+s.db.ForUpdate(), team, id, id); err != nil {
		return false, fmt.Errorf("holding the posts that have a file: %w", err)
	}
	first, err := uses(ctx, tx, team, id, 1)
	switch {
	case err != nil:
		return false, err
	case len(first) == 0:
		return false, nil
	case first[0].Kind == UsedNow:
		return false, errMoves
	case first[0].Kind == UsedAhead:
		return false, errInUse
	}
	const mine = `FROM posts p WHERE p.team_id = ? AND ` + loses + ` AND p.id `
	_, err = tx.Exec(ctx,
		`UPDATE posts SET updated_at = ? WHERE id IN (SELECT p.id `+mine+
			`IN (SELECT post_id FROM post_media WHERE media_id = ? UNION SELECT post_id FROM post_target_media WHERE media_id = ?))`,
		db.Micros(tx.Now()), team, id, id)
	if err != nil {
		return false, fmt.Errorf("noting that drafts change: %w", err)
	}
	for _, table := range []string{"post_media", "post_target_media"} {
		if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE media_id = ? AND EXISTS (SELECT 1 `+mine+`= post_id)`,
			id, team); err != nil {
			return false, fmt.Errorf("taking a file out of drafts: %w", err)
		}
	}
	left, err := uses(ctx, tx, team, id, 1)
	return len(left) > 0, err
}

// forget takes an item's row away, or what of it no record needs, and has its bytes swept.
func (s *Service) forget(ctx context.Context, tx *db.Tx, call operation.Call, id int64, wasSent bool) error {
	i, err := item(ctx, tx, call.TeamID, id)
	if err != nil {
		return err
	}
	type step struct {
		statement string
		args      []any
	}
	row := step{`DELETE FROM media WHERE id = ? AND team_id = ?`, []any{id, call.TeamID}}
	if wasSent {
		name := "deleted/" + text(id) // of no file; each row has its own
		row = step{`UPDATE media SET deleted_at = ?, deleted_by = ?, sha256 = ?, original_sha256 = NULL, blob = ?,
		thumbnail = '', thumbnail_type = '', search = '', alt = '', detail = '{}', folder_id = 0
		WHERE id = ? AND team_id = ?`,
			[]any{db.Micros(tx.Now()), call.PersonID, []byte(name), name, id, call.TeamID}}
	}
	for _, step := range []step{
		row,
		{`UPDATE storage SET used_bytes = used_bytes - ? WHERE team_id = ?`, []any{i.Size, call.TeamID}},
		{`INSERT INTO media_pending (blob, doomed, created_at) VALUES (?, 1, ?)`, []any{i.Blob, db.Micros(tx.Now())}},
	} {
		if _, err := tx.Exec(ctx, step.statement, step.args...); err != nil {
			return fmt.Errorf("deleting a media item: %w", err)
		}
	}
	return dropDerived(ctx, tx, `media_id = ? AND team_id = ?`, id, call.TeamID)
}

// Deletion is when a file was deleted that went out with a post, and by whom.
type Deletion struct {
	Name, By string // By is empty where that person's account is gone
	At       time.Time
}

// Deletions are those of the team's files among these.
func (s *Service) Deletions(ctx context.Context, team int64, ids []int64) (map[int64]Deletion, error) {
	out := map[int64]Deletion{}
	if len(ids) == 0 {
		return out, nil
	}
	type row struct {
		Deletion
		id int64
	}
	found, err := db.All(ctx, s.db, func(rows *sql.Rows, r *row) error {
		var at int64
		err := rows.Scan(&r.id, &r.Name, &at, &r.By)
		r.At = db.Time(at)
		return err
	}, `SELECT m.id, m.name, m.deleted_at, COALESCE(x.name, '') FROM media m LEFT
		JOIN people x ON x.id = m.deleted_by WHERE m.team_id = ? AND m.deleted_at > 0 AND m.id IN (`+db.Placeholders(len(ids))+
		`)`, db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading which files were deleted: %w", err)
	}
	for _, r := range found {
		out[r.id] = r.Deletion
	}
	return out, nil
}
