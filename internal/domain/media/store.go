package media

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/media/filename"
	"pressroom.example/pressroom/internal/platform/db"
)

// columns reads the folder's name in a subquery. With a join, PostgreSQL would plan each page again.
const columns = `m.id, m.team_id, m.folder_id,
	COALESCE((SELECT f.name FROM media_folders f WHERE f.id = m.folder_id), ''), m.sha256, m.original_sha256, m.clean,
	m.blob, m.thumbnail, m.thumbnail_type, m.name, m.file_name, m.type, m.kind, m.size_bytes, m.stored_bytes, m.width,
	m.height, m.duration, m.detail, m.alt, m.created_at, m.deleted_at, m.deleted_by`

type scanner interface{ Scan(...any) error }

func scanItem(row scanner, i *Item) error {
	var duration, createdAt, deletedAt, clean int64
	var detail []byte
	err := row.Scan(&i.ID, &i.TeamID, &i.FolderID, &i.FolderName, &i.SHA256, &i.OriginalSHA256, &clean, &i.Blob, &i.Thumbnail,
		&i.ThumbnailType, &i.Name, &i.FileName, &i.Type, &i.Kind,
		&i.Size, &i.StoredSize, &i.Width, &i.Height, &duration, &detail, &i.Alt, &createdAt, &deletedAt, &i.DeletedBy)
	if err != nil {
		return err
	}
	i.Duration, i.CreatedAt, i.DeletedAt = time.Duration(duration)*time.Microsecond, db.Time(createdAt), db.Time(deletedAt)
	i.Clean, i.StoredSize = clean != 0, cmp.Or(i.StoredSize, i.Size)
	if err := json.Unmarshal(detail, &i.Detail); err != nil {
		return fmt.Errorf("decoding a file's information: %w", err)
	}
	return nil
}

func scanItems(rows *sql.Rows, i *Item) error { return scanItem(rows, i) }

// findItem returns an item of a team. It returns not_found if the item is missing or deleted, or belongs to another
// team.
func findItem(ctx context.Context, q db.Querier, team, id int64) (Item, error) {
	var i Item
	err := scanItem(q.QueryRow(ctx,
		`SELECT `+columns+` FROM media m WHERE m.id = ? AND m.team_id = ? AND m.deleted_at = 0`, id, team), &i)
	if errors.Is(err, sql.ErrNoRows) {
		return i, apierr.ItemNotFound()
	}
	if err != nil {
		return i, fmt.Errorf("reading a media item: %w", err)
	}
	return i, nil
}

// digestQuery uses an index for each of the two digests. With OR, the planner would sort or scan all items by ID.
const digestQuery = `SELECT ` + columns + ` FROM media m WHERE m.id = (SELECT MIN(id) FROM
	(SELECT m.id FROM media m WHERE m.team_id = ? AND m.sha256 = ? UNION ALL SELECT m.id FROM media m
		WHERE m.team_id = ? AND m.original_sha256 = ?) found)`

// findByDigest returns the team's item for a file, by the digest of its stored bytes or of the uploaded file, and
// reports whether there is one.
func findByDigest(ctx context.Context, q db.Querier, team int64, digest []byte) (Item, bool, error) {
	var i Item
	err := scanItem(q.QueryRow(ctx, digestQuery, team, digest, team, digest), &i)
	if errors.Is(err, sql.ErrNoRows) {
		return i, false, nil
	}
	if err != nil {
		return i, false, fmt.Errorf("finding a file in the library: %w", err)
	}
	return i, true, nil
}

func insert(ctx context.Context, tx *db.Tx, i *Item, owner Owner) error {
	detail, err := json.Marshal(i.Detail)
	if err != nil {
		return fmt.Errorf("encoding a file's information: %w", err)
	}
	i.CreatedAt = tx.Now()
	err = tx.QueryRow(ctx,
		`INSERT INTO media (team_id, folder_id, sha256, original_sha256, clean, blob, thumbnail, thumbnail_type,
		name, file_name, search, type, kind, size_bytes, stored_bytes, width, height, duration, detail, person_id,
		key_id, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		i.TeamID, i.FolderID, i.SHA256, i.OriginalSHA256, db.BoolToInt(i.Clean), i.Blob, i.Thumbnail, i.ThumbnailType,
		i.Name,
		i.FileName, filename.Fold(i.Name+"\n"+i.FileName), i.Type, i.Kind, i.Size, i.StoredSize, i.Width, i.Height,
		i.Duration.Microseconds(), string(detail), owner.PersonID, owner.KeyID, db.Micros(i.CreatedAt)).Scan(&i.ID)
	if err != nil {
		return fmt.Errorf("adding a media item: %w", err)
	}
	return nil
}

// lockUsage returns a team's used storage and locks its row, so that concurrent uploads cannot exceed the limit.
func (s *Service) lockUsage(ctx context.Context, tx *db.Tx, team int64) (int64, error) {
	if _, err := tx.Exec(ctx, `INSERT INTO storage (team_id) VALUES (?) ON CONFLICT (team_id) DO NOTHING`,
		team); err != nil {
		return 0, fmt.Errorf("creating a team's storage: %w", err)
	}
	var bytes int64
	if err := tx.QueryRow(ctx, `SELECT used_bytes FROM storage WHERE team_id = ?`+s.db.ForUpdate(), team).
		Scan(&bytes); err != nil {
		return 0, fmt.Errorf("locking a team's storage: %w", err)
	}
	return bytes, nil
}

// openLinks returns the number of a team's open upload links and the bytes reserved for them.
func openLinks(ctx context.Context, q db.Querier, team int64) (int, int64, error) {
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

// storageLimit returns the storage limit of the team's plan in bytes, or plan.Unlimited.
func (s *Service) storageLimit(ctx context.Context, q db.Querier, team int64, now time.Time) (int64, error) {
	var planID string
	var planUntil int64
	if err := q.QueryRow(ctx, `SELECT plan, plan_until FROM teams WHERE id = ?`, team).Scan(&planID, &planUntil); err != nil {
		return 0, fmt.Errorf("reading a team's plan: %w", err)
	}
	return s.Catalog.PlanInEffect(planID, db.Time(planUntil), now).StorageBytes, nil
}

// requireFolder returns an error if the team has no folder with this ID. An ID of 0 means no folder and is allowed.
func requireFolder(ctx context.Context, q db.Querier, team, id int64) error {
	if id == 0 {
		return nil
	}
	var n int64
	if err := q.QueryRow(ctx, `SELECT COUNT(*) FROM media_folders WHERE id = ? AND team_id = ?`, id, team).
		Scan(&n); err != nil {
		return fmt.Errorf("finding a folder: %w", err)
	}
	if n == 0 {
		return apierr.New(apierr.FolderNotFound, "Folder not found in the media library.").With("argument", "folder_id")
	}
	return nil
}

// ensureFolder returns the ID of a team's folder with this name, creating it if needed.
func ensureFolder(ctx context.Context, tx *db.Tx, team int64, name string) (int64, error) {
	_, err := tx.Exec(ctx,
		`INSERT INTO media_folders (team_id, name, created_at) VALUES (?, ?, ?) ON CONFLICT (team_id, name) DO NOTHING`,
		team, name, db.Micros(tx.Now()))
	if err != nil {
		return 0, fmt.Errorf("creating a folder: %w", err)
	}
	var id int64
	if err := tx.QueryRow(ctx, `SELECT id FROM media_folders WHERE team_id = ? AND name = ?`, team, name).
		Scan(&id); err != nil {
		return 0, fmt.Errorf("reading a folder: %w", err)
	}
	return id, nil
}
