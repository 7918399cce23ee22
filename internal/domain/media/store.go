package media

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/platform/db"
)

// columns name the folder without a join, by which PostgreSQL would plan each page anew.
const columns = `m.id, m.team_id, m.folder_id, COALESCE((SELECT f.name FROM media_folders f WHERE f.id = m.folder_id), ''), m.sha256, m.original_sha256, m.clean, m.blob, m.thumbnail, m.thumbnail_type, m.name, m.file_name, m.type, m.kind, m.size_bytes, m.stored_bytes, m.width, m.height, m.duration, m.detail, m.alt, m.created_at, m.deleted_at, m.deleted_by`

type scanner interface{ Scan(...any) error }

func scanItem(row scanner, i *Item) error {
	var duration, created, deleted, clean int64
	var detail []byte
	err := row.Scan(&i.ID, &i.TeamID, &i.FolderID, &i.FolderName, &i.SHA256, &i.Original, &clean, &i.Blob, &i.Thumbnail,
		&i.ThumbnailType, &i.Name, &i.FileName, &i.Type, &i.Kind,
		&i.Size, &i.Stored, &i.Width, &i.Height, &duration, &detail, &i.Alt, &created, &deleted, &i.DeletedBy)
	if err != nil {
		return err
	}
	i.Duration, i.CreatedAt, i.DeletedAt = time.Duration(duration)*time.Microsecond, db.Time(created), db.Time(deleted)
	i.Clean, i.Stored = clean != 0, cmp.Or(i.Stored, i.Size)
	if err := json.Unmarshal(detail, &i.Detail); err != nil {
		return fmt.Errorf("reading what a file tells: %w", err)
	}
	return nil
}

func scanItems(rows *sql.Rows, i *Item) error { return scanItem(rows, i) }

// item reads an item of a team; a missing one, one that was deleted and another team's are the same not_found.
func item(ctx context.Context, q db.Querier, team, id int64) (Item, error) {
	var i Item
	err := scanItem(q.QueryRow(ctx,
		`SELECT `+columns+` FROM media m WHERE m.id = ? AND m.team_id = ? AND m.deleted_at = 0`, id, team), &i)
	if errors.Is(err, sql.ErrNoRows) {
		return i, apierr.Missing()
	}
	if err != nil {
		return i, fmt.Errorf("reading a media item: %w", err)
	}
	return i, nil
}

// digestQuery looks up an index for each of the two digests. With OR, the plan would sort or walk all items by their
// ids.
const digestQuery = `SELECT ` + columns + ` FROM media m WHERE m.id = (SELECT MIN(id) FROM
	(SELECT m.id FROM media m WHERE m.team_id = ? AND m.sha256 = ? UNION ALL SELECT m.id FROM media m
		WHERE m.team_id = ? AND m.original_sha256 = ?) found)`

// byDigest finds the item that a team has of a file, by the digest of its stored bytes or of the file as it arrived.
func byDigest(ctx context.Context, q db.Querier, team int64, digest []byte) (Item, bool, error) {
	var i Item
	err := scanItem(q.QueryRow(ctx, digestQuery, team, digest, team, digest), &i)
	if errors.Is(err, sql.ErrNoRows) {
		return i, false, nil
	}
	if err != nil {
		return i, false, fmt.Errorf("looking for a file in the library: %w", err)
	}
	return i, true, nil
}

func insert(ctx context.Context, tx *db.Tx, i *Item, by Owner) error {
	detail, err := json.Marshal(i.Detail)
	if err != nil {
		return fmt.Errorf("writing what a file tells: %w", err)
	}
	i.CreatedAt = tx.Now()
	err = tx.QueryRow(ctx,
		`INSERT INTO media (team_id, folder_id, sha256, original_sha256, clean, blob, thumbnail, thumbnail_type,
		name, file_name, search, type, kind, size_bytes, stored_bytes, width, height, duration, detail, person_id,
		key_id, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		i.TeamID, i.FolderID, i.SHA256, i.Original, db.Flag(i.Clean), i.Blob, i.Thumbnail, i.ThumbnailType, i.Name,
		i.FileName, fold(i.Name+"\n"+i.FileName), i.Type, i.Kind, i.Size, i.Stored, i.Width, i.Height,
		i.Duration.Microseconds(), string(detail), by.PersonID, by.KeyID, db.Micros(i.CreatedAt)).Scan(&i.ID)
	if err != nil {
		return fmt.Errorf("adding a media item: %w", err)
	}
	return nil
}

// used holds the row of what a team's library takes up, so that two files cannot both take the last place, and reads
// it.
func (s *Service) used(ctx context.Context, tx *db.Tx, team int64) (int64, error) {
	if _, err := tx.Exec(ctx, `INSERT INTO storage (team_id) VALUES (?) ON CONFLICT (team_id) DO NOTHING`,
		team); err != nil {
		return 0, fmt.Errorf("making a team's storage: %w", err)
	}
	var bytes int64
	if err := tx.QueryRow(ctx, `SELECT used_bytes FROM storage WHERE team_id = ?`+s.db.ForUpdate(), team).
		Scan(&bytes); err != nil {
		return 0, fmt.Errorf("holding a team's storage: %w", err)
	}
	return bytes, nil
}

// waiting is what the links that a team has open will take up once used.
func waiting(ctx context.Context, q db.Querier, team int64) (int, int64, error) {
	var links int
	var bytes int64
	err := q.QueryRow(ctx,
		`SELECT COUNT(*), COALESCE(SUM(size_bytes), 0) FROM upload_files WHERE team_id = ? AND state = 'waiting'`,
		team).Scan(&links, &bytes)
	if err != nil {
		return 0, 0, fmt.Errorf("counting open links: %w", err)
	}
	return links, bytes, nil
}

// allowance is how many bytes the team's plan of this moment allows, terms.Unlimited for any number.
func (s *Service) allowance(ctx context.Context, q db.Querier, team int64, now time.Time) (int64, error) {
	var plan string
	var until int64
	if err := q.QueryRow(ctx, `SELECT plan, plan_until FROM teams WHERE id = ?`, team).Scan(&plan, &until); err != nil {
		return 0, fmt.Errorf("reading a team's plan: %w", err)
	}
	return s.Terms.InEffect(plan, db.Time(until), now).StorageBytes, nil
}

// folder refuses an id that names no folder of a team; 0 is none.
func folder(ctx context.Context, q db.Querier, team, id int64) error {
	if id == 0 {
		return nil
	}
	var n int64
	if err := q.QueryRow(ctx, `SELECT COUNT(*) FROM media_folders WHERE id = ? AND team_id = ?`, id, team).
		Scan(&n); err != nil {
		return fmt.Errorf("looking for a folder: %w", err)
	}
	if n == 0 {
		return apierr.New(apierr.FolderNotFound, "The media library has no such folder.").With("argument", "folder_id")
	}
	return nil
}

// ensureFolder finds a folder of a team by its name and makes it where it is not there.
func ensureFolder(ctx context.Context, tx *db.Tx, team int64, name string) (int64, error) {
	_, err := tx.Exec(ctx,
		`INSERT INTO media_folders (team_id, name, created_at) VALUES (?, ?, ?) ON CONFLICT (team_id, name) DO NOTHING`,
		team, name, db.Micros(tx.Now()))
	if err != nil {
		return 0, fmt.Errorf("making a folder: %w", err)
	}
	var id int64
	if err := tx.QueryRow(ctx, `SELECT id FROM media_folders WHERE team_id = ? AND name = ?`, team, name).
		Scan(&id); err != nil {
		return 0, fmt.Errorf("reading a folder: %w", err)
	}
	return id, nil
}
