package erasure

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// DeletePendingTeams deletes the data of all teams that are being deleted, in batches, until nothing is left or ctx is
// canceled.
func (s *Service) DeletePendingTeams(ctx context.Context) error {
	teams, err := db.All(ctx, s.DB, scanID, `SELECT team_id FROM team_deletions WHERE ended_at = 0 ORDER BY team_id`)
	if err != nil {
		return fmt.Errorf("finding teams to delete: %w", err)
	}
	for _, team := range teams {
		for done := false; !done; {
			if err := ctx.Err(); err != nil {
				return err
			}
			if done, err = s.removeBatch(ctx, team); err != nil {
				return fmt.Errorf("deleting team %d: %w", team, err)
			}
		}
	}
	return nil
}

// removeBatch deletes one batch of a team's data and reports whether no data is left.
func (s *Service) removeBatch(ctx context.Context, team int64) (bool, error) {
	if more, err := s.disconnectNext(ctx, team); more || err != nil {
		return false, err
	}
	done := false
	err := s.DB.InTx(ctx, "leaving.remove", func(ctx context.Context, tx *db.Tx) error {
		done = false
		var requestedBy, deleteAccount int64
		err := tx.QueryRow(ctx,
			`SELECT asked_by, with_person FROM team_deletions WHERE team_id = ? AND ended_at = 0`+s.DB.ForUpdate(),
			team).Scan(&requestedBy, &deleteAccount)
		if errors.Is(err, sql.ErrNoRows) {
			done = true // Another node finished the deletion.
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.stopWork(ctx, tx, team); err != nil {
			return err
		}
		n, err := s.removeRows(ctx, tx, team)
		if err != nil {
			return err
		}
		if n > 0 {
			_, err = tx.Exec(ctx, `UPDATE team_deletions SET removed = removed + ? WHERE team_id = ?`, n, team)
			return err
		}
		done = true
		return s.finishDeletion(ctx, tx, team, requestedBy, deleteAccount > 0)
	})
	return done, err
}

// disconnectNext disconnects one of the team's accounts, so that its grant is revoked at the network. It reports
// whether there may be more accounts.
func (s *Service) disconnectNext(ctx context.Context, team int64) (bool, error) {
	var requestedBy, account int64
	err := s.DB.QueryRow(ctx,
		`SELECT d.asked_by, a.id FROM team_deletions d JOIN social_accounts a ON a.team_id = d.team_id
		JOIN memberships m ON m.team_id = d.team_id AND m.person_id = d.asked_by AND m.role IN ('owner', 'admin')
		WHERE d.team_id = ? AND d.ended_at = 0 AND a.disconnected_at = 0 ORDER BY a.id LIMIT 1`, team).Scan(&requestedBy,
		&account)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("finding accounts of team %d: %w", team, err)
	}
	return true, s.Disconnect(ctx, requestedBy, team, account)
}

// removal is a list of statements whose argument is the team's ID. Only the rows that the last statement deletes are
// counted.
type removal []string

// smallBatch limits the number of items per transaction if they have much related data. largeBatch limits the number of
// other items.
const (
	smallBatch = `LIMIT 20`
	largeBatch = `LIMIT 500`
)

// teamData lists statements that delete a team's rows, in an order that respects foreign keys.
var teamData = []removal{
	{`DELETE FROM account_posts WHERE (account_id, network_id) IN (SELECT p.account_id, p.network_id
		FROM social_accounts a JOIN account_posts p ON p.account_id = a.id WHERE a.team_id = ? ` + largeBatch + `)`},
	{`DELETE FROM grant_revocations WHERE team_id = ? AND next_at = 0`},
	{`DELETE FROM account_days WHERE (account_id, day) IN (SELECT p.account_id, p.day FROM social_accounts a
		JOIN account_days p ON p.account_id = a.id WHERE a.team_id = ? ` + largeBatch + `)`},
	{
		`DELETE FROM connect_links WHERE account_id IN (SELECT id FROM social_accounts WHERE team_id = ?)`,
		`DELETE FROM account_collections WHERE account_id IN (SELECT id FROM social_accounts WHERE team_id = ?)`,
		`DELETE FROM account_pictures WHERE account_id IN (SELECT id FROM social_accounts WHERE team_id = ?)`,
		`DELETE FROM social_accounts WHERE id IN (SELECT id FROM social_accounts WHERE team_id = ? ` + smallBatch + `)`,
	},
	{`DELETE FROM reports WHERE id IN (SELECT id FROM reports WHERE team_id = ? ` + smallBatch + `)`},
	{`DELETE FROM hashtag_lists WHERE id IN (SELECT id FROM hashtag_lists WHERE team_id = ? ` + smallBatch + `)`},
	{`DELETE FROM hashtag_searches WHERE id IN (SELECT id FROM hashtag_searches WHERE team_id = ? ` + largeBatch + `)`},
	{`DELETE FROM brand_voices WHERE id IN (SELECT id FROM brand_voices WHERE team_id = ? ` + smallBatch + `)`},
	{`DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE team_id = ? ` + smallBatch + `)`},
	{`DELETE FROM media_folders WHERE team_id = ?`},
	{`DELETE FROM storage WHERE team_id = ?`},
	{`DELETE FROM credit_holds WHERE team_id = ?`},
	{`DELETE FROM paid_subjects WHERE reservation_id IN (SELECT reservation_id FROM paid_subjects WHERE team_id = ? ` +
		largeBatch + `)`},
	{`DELETE FROM free_calls WHERE team_id = ?`},
	{`DELETE FROM pauses WHERE scope = 'team' AND target = ?`},
	{`DELETE FROM pauses WHERE scope = 'key' AND target IN (SELECT id FROM api_keys WHERE team_id = ?)`},
	{`DELETE FROM idempotency_records WHERE (key_id, key) IN (SELECT r.key_id, r.key FROM api_keys k
		JOIN idempotency_records r ON r.key_id = k.id WHERE k.team_id = ? ` + largeBatch + `)`},
	{`DELETE FROM paid_requests WHERE (key_id, key, request_hash) IN (SELECT r.key_id, r.key, r.request_hash
		FROM api_keys k JOIN paid_requests r ON r.key_id = k.id WHERE k.team_id = ? ` + largeBatch + `)`},
	{`DELETE FROM oauth_tokens WHERE hash IN (SELECT t.hash FROM oauth_grants g
		JOIN oauth_tokens t ON t.grant_id = g.id WHERE g.team_id = ? ` + largeBatch + `)`},
	{`DELETE FROM oauth_grants WHERE team_id = ?`},
	{`DELETE FROM api_keys WHERE team_id = ?`},
	{`DELETE FROM invitations WHERE team_id = ?`},
	{`DELETE FROM notice_thresholds WHERE team_id = ?`},
	{`DELETE FROM channel_notices WHERE team_id = ?`},
	{`DELETE FROM notice_channels WHERE team_id = ?`},
	{`DELETE FROM unsaved_forms WHERE team_id = ?`},
	{`DELETE FROM notices WHERE id IN (SELECT n.id FROM notices n
		JOIN memberships m ON m.person_id = n.person_id AND m.team_id = n.team_id WHERE n.team_id = ? ` + largeBatch + `)`},
}

// removeRows deletes some of the remaining data and returns the number of deleted items. It returns 0 if no data is
// left.
func (s *Service) removeRows(ctx context.Context, tx *db.Tx, team int64) (int64, error) {
	if n, err := removeSomePosts(ctx, tx, team); n > 0 || err != nil {
		return n, err
	}
	if n, err := removeMedia(ctx, tx, team); n > 0 || err != nil {
		return n, err
	}
	if n, err := execAll(ctx, tx, []any{team},
		`DELETE FROM post_series_gaps WHERE series_id IN (SELECT id FROM post_series WHERE team_id = ?)`,
		`DELETE FROM post_series WHERE team_id = ?`); n > 0 || err != nil {
		return n, err
	}
	for _, r := range teamData {
		if n, err := execAll(ctx, tx, []any{team}, r...); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, nil
}

// removeSomePosts deletes up to 100 of the team's posts with all related data, and returns their number.
func removeSomePosts(ctx context.Context, tx *db.Tx, team int64) (int64, error) {
	ids, err := db.All(ctx, tx, func(rows *sql.Rows, id *string) error {
		return rows.Scan(id)
	}, `SELECT id FROM posts WHERE team_id = ? ORDER BY id LIMIT 100`, team)
	if err != nil {
		return 0, fmt.Errorf("finding posts to delete: %w", err)
	}
	return removePosts(ctx, tx, ids)
}

func removePosts(ctx context.Context, tx *db.Tx, ids []string) (int64, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	args, idList := make([]any, len(ids)), `(`+db.Placeholders(len(ids))+`)`
	for i, id := range ids {
		args[i] = id
	}
	requests, err := db.All(ctx, tx, func(rows *sql.Rows, id *string) error {
		return rows.Scan(id)
	}, `SELECT DISTINCT request_id FROM approval_request_posts WHERE post_id IN `+idList, args...)
	if err != nil {
		return 0, fmt.Errorf("looking for approval links to delete: %w", err)
	}
	n, err := execAll(ctx, tx, args,
		`DELETE FROM approval_comments WHERE post_id IN `+idList,
		`DELETE FROM approval_request_posts WHERE post_id IN `+idList,
		`DELETE FROM delivery_attempts WHERE delivery_id IN (SELECT id FROM deliveries WHERE post_id IN `+idList+`)`,
		`DELETE FROM deliveries WHERE post_id IN `+idList,
		`DELETE FROM post_approvals WHERE post_id IN `+idList,
		`DELETE FROM post_target_media WHERE post_id IN `+idList,
		`DELETE FROM post_targets WHERE post_id IN `+idList,
		`DELETE FROM post_media WHERE post_id IN `+idList,
		`DELETE FROM post_labels WHERE post_id IN `+idList,
		`DELETE FROM posts WHERE id IN `+idList)
	if err != nil || len(requests) == 0 {
		return n, err
	}
	_, err = execAll(ctx, tx, db.Args(requests[0], requests[1:]),
		`DELETE FROM approval_requests WHERE id IN (`+db.Placeholders(len(requests))+`) AND NOT EXISTS
		(SELECT 1 FROM approval_request_posts a WHERE a.request_id = approval_requests.id)`)
	return n, err
}

// removeMedia deletes up to 100 items of the team's media library and returns their number. It only marks their files:
// the media library's sweep deletes them.
func removeMedia(ctx context.Context, tx *db.Tx, team int64) (int64, error) {
	type file struct {
		id      int64
		blob    string
		deleted int64
	}
	files, err := db.All(ctx, tx, func(rows *sql.Rows, f *file) error {
		return rows.Scan(&f.id, &f.blob, &f.deleted)
	}, `SELECT id, blob, deleted_at FROM media WHERE team_id = ? ORDER BY id LIMIT 100`, team)
	if err != nil {
		return 0, fmt.Errorf("finding media to delete: %w", err)
	}
	for _, f := range files {
		if f.deleted == 0 { // Otherwise, the file has already been deleted.
			_, err := tx.Exec(ctx,
				`INSERT INTO media_pending (blob, deleting, created_at) VALUES (?, 1, ?) ON CONFLICT (blob) DO UPDATE
		SET deleting = 1`, f.blob, db.Micros(tx.Now()))
			if err != nil {
				return 0, fmt.Errorf("marking the file of media %d: %w", f.id, err)
			}
		}
		if err := removeDerived(ctx, tx, f.id); err != nil {
			return 0, err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM media WHERE id = ?`, f.id); err != nil {
			return 0, fmt.Errorf("deleting media %d: %w", f.id, err)
		}
	}
	return int64(len(files)), nil
}

// removeDerived deletes the records of files that were derived from an item. The media library's sweep deletes the
// files.
func removeDerived(ctx context.Context, tx *db.Tx, item int64) error {
	_, err := tx.Exec(ctx,
		`INSERT INTO media_pending (blob, deleting, created_at) SELECT blob, 1, ? FROM media_derived
		WHERE media_id = ? AND blob <> ''`, db.Micros(tx.Now()), item)
	if err != nil {
		return fmt.Errorf("marking the derived files of media %d: %w", item, err)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM media_derived WHERE media_id = ?`, item); err != nil {
		return fmt.Errorf("deleting the derived files of media %d: %w", item, err)
	}
	return nil
}

// finishDeletion finishes a deletion: it removes the members and clears the team's row except for its ID.
func (s *Service) finishDeletion(ctx context.Context, tx *db.Tx, team, requestedBy int64, deleteAccount bool) error {
	if _, err := tx.Exec(ctx, `DELETE FROM memberships WHERE team_id = ?`, team); err != nil {
		return fmt.Errorf("clearing team %d: %w", team, err)
	}
	if _, err := tx.Exec(ctx,
		`UPDATE teams SET name = '', timezone = 'UTC', content_language = '', daily_credits = NULL, own_daily_credits
		= NULL WHERE id = ?`, team); err != nil {
		return fmt.Errorf("clearing team %d: %w", team, err)
	}
	// Pending revocations of grants continue without the team.
	if _, err := tx.Exec(ctx, `UPDATE grant_revocations SET team_id = 0 WHERE team_id = ?`, team); err != nil {
		return fmt.Errorf("clearing team %d: %w", team, err)
	}
	if _, err := tx.Exec(ctx, `UPDATE team_deletions SET ended_at = ? WHERE team_id = ?`, db.Micros(tx.Now()),
		team); err != nil {
		return fmt.Errorf("ending the deletion of team %d: %w", team, err)
	}
	if deleteAccount {
		if err := s.erasePerson(ctx, tx, requestedBy); err != nil && !errors.Is(err, errOwnsTeams) {
			return err // A person who now owns another team keeps the account.
		}
	}
	if err := bumpAccessVersion(ctx, tx); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "team.deleted", strconv.FormatInt(team, 10), nil)
}
