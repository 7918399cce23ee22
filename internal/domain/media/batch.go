package media

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// batchFileRecord is a stored file of a batch.
type batchFileRecord struct {
	id          string
	digest      []byte
	size        int64
	name        string
	mimeType    string
	state       State
	media       int64
	reason      string
	arrivedAt   int64
	addedOnPage bool   // added on the upload page, not described in advance
	secret      string // set only for the response; the database has only its hash
}

// batchRecord is a stored upload batch.
type batchRecord struct {
	job                  string
	team, person, key    int64
	folder               int64
	createdAt, expiresAt time.Time
	closed               bool
	files                []batchFileRecord
}

// pendingFiles returns the number of pending files and their total bytes.
func (b batchRecord) pendingFiles() (int, int64) {
	links, bytes := 0, int64(0)
	for _, f := range b.files {
		if f.state == Waiting {
			links, bytes = links+1, bytes+f.size
		}
	}
	return links, bytes
}

// openBatch inserts a batch and its job. A batch without pending files is complete immediately.
func (s *Service) openBatch(ctx context.Context, tx *db.Tx, call operation.Call, b *batchRecord) (job.Record, error) {
	record, err := s.Jobs.Create(ctx, tx,
		job.Params{TeamID: b.team, Type: job.MediaImport, Subject: uploadSubject, Total: len(b.files)})
	if err != nil {
		return record, err
	}
	b.job = record.ID
	_, err = tx.Exec(ctx,
		`INSERT INTO upload_batches (job_id, team_id, person_id, key_id, folder_id, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
		b.job, b.team, b.person, b.key, b.folder, db.Micros(tx.Now()), db.Micros(b.expiresAt))
	if err != nil {
		return record, fmt.Errorf("opening an upload batch: %w", err)
	}
	for n, f := range b.files {
		if err := insertFile(ctx, tx, *b, n, f); err != nil {
			return record, err
		}
	}
	if err := auditlog.Record(ctx, tx, b.team, auditlog.NewActor(call), "uploads.opened", b.job,
		map[string]any{"files": len(b.files)}); err != nil {
		return record, err
	}
	if links, _ := b.pendingFiles(); links > 0 || len(b.files) == 0 {
		return record, s.Worker.WakeAt(ctx, tx, b.job, b.expiresAt)
	}
	if err := s.closeBatch(ctx, tx, b.job, ""); err != nil {
		return record, err
	}
	return job.Get(ctx, tx, b.team, b.job)
}

func insertFile(ctx context.Context, tx *db.Tx, b batchRecord, position int, f batchFileRecord) error {
	var hash []byte
	if f.secret != "" {
		sum := apikey.Hash(f.secret)
		hash = sum[:]
	}
	_, err := tx.Exec(ctx,
		`INSERT INTO upload_files (id, job_id, team_id, position, sha256, size_bytes, file_name, mime_type,
		secret_hash, state, by_page, arrived_at, media_id, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		f.id, b.job, b.team, position, f.digest, f.size, f.name, f.mimeType, hash, string(f.state),
		db.BoolToInt(f.addedOnPage),
		f.arrivedAt, f.media, f.reason)
	if err != nil {
		return fmt.Errorf("opening an upload link: %w", err)
	}
	return nil
}

// closeBatch closes a batch and ends its job. defaultCode is the error code of files that were not uploaded.
func (s *Service) closeBatch(ctx context.Context, tx *db.Tx, id, defaultCode string) error {
	if _, err := tx.Exec(ctx, `UPDATE upload_batches SET closed_at = ? WHERE job_id = ? AND closed_at = 0`,
		db.Micros(tx.Now()), id); err != nil {
		return fmt.Errorf("closing an upload batch: %w", err)
	}
	files, err := readFiles(ctx, tx, id)
	if err != nil {
		return err
	}
	state, code := batchOutcome(files, defaultCode)
	return job.Finish(ctx, tx, id, state, code)
}

// batchOutcome returns the final state and error code of a batch's job. defaultCode is the error code of files that
// have no reason of their own.
func batchOutcome(files []batchFileRecord, defaultCode string) (job.State, string) {
	storedCount, code := 0, ""
	for _, f := range files {
		if f.state == Stored {
			storedCount++
		} else if code == "" {
			code = cmp.Or(f.reason, defaultCode)
		}
	}
	switch {
	case len(files) == 0:
		return job.Failed, defaultCode
	case storedCount == len(files):
		return job.Succeeded, ""
	case storedCount > 0:
		return job.PartiallySucceeded, code
	}
	return job.Failed, code
}

// readBatch returns a batch with its files, or sql.ErrNoRows.
func (s *Service) readBatch(ctx context.Context, q db.Querier, id, lock string) (batchRecord, error) {
	b := batchRecord{job: id}
	var createdAt, expiresAt, closedAt int64
	err := q.QueryRow(ctx,
		`SELECT team_id, person_id, key_id, folder_id, created_at, expires_at, closed_at FROM upload_batches
		WHERE job_id = ?`+lock, id).
		Scan(&b.team, &b.person, &b.key, &b.folder, &createdAt, &expiresAt, &closedAt)
	if err != nil {
		return b, fmt.Errorf("reading an upload batch: %w", err)
	}
	b.createdAt, b.expiresAt, b.closed = db.Time(createdAt), db.Time(expiresAt), closedAt != 0
	b.files, err = readFiles(ctx, q, id)
	return b, err
}

func readFiles(ctx context.Context, q db.Querier, id string) ([]batchFileRecord, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, f *batchFileRecord) error {
		var byPageFlag int64
		err := rows.Scan(&f.id, &f.digest, &f.size, &f.name, &f.mimeType, &f.state, &byPageFlag, &f.arrivedAt, &f.media,
			&f.reason)
		f.addedOnPage = byPageFlag != 0
		return err
	}, `SELECT id, sha256, size_bytes, file_name, mime_type, state, by_page, arrived_at, media_id, reason
		FROM upload_files WHERE job_id = ? ORDER BY position`, id)
	if err != nil {
		return nil, fmt.Errorf("reading the files of a batch: %w", err)
	}
	return out, nil
}
