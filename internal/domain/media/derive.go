package media

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/failpoint"
	"pressroom.example/pressroom/internal/platform/loadshed"
)

const (
	// derivedLifetime is how long a derived file is kept. It is recreated on demand afterwards.
	derivedLifetime = 30 * 24 * time.Hour
	// maxDerivedFiles is the maximum number of derived files that are kept per item. If there are more, the oldest are
	// deleted.
	maxDerivedFiles = 24
	// deriveTimeout limits the work on one derived file. Callers may stop waiting earlier.
	deriveTimeout = 10 * time.Minute
	// derivedInfix separates the key of an item's blob from the unique suffix in a derived file's key.
	derivedInfix = ".made."
)

// derivedFile is a file made from an item for one purpose. It does not count against the team's storage.
type derivedFile struct {
	media         int64
	team          int64
	variant       string
	blob          string // empty if the item's own bytes serve the purpose
	sha256        []byte
	mime          string
	size          int64 // bytes
	width, height int   // pixels
}

// etag returns the entity tag of the bytes.
func (d derivedFile) etag() string { return `"` + hex.EncodeToString(d.sha256) + `"` }

// transform is a way to make a derived file.
type transform struct {
	// variant identifies the result among the derived files of an item. It contains the purpose, the version of the
	// method, and all parameters that affect the bytes.
	variant string
	// make reads the item's bytes and writes the derived file. It returns errUnchanged if the item's own bytes can be
	// used.
	make func(ctx context.Context, i Item, src blob.Reader, dst io.Writer) (outputInfo, error)
}

// outputInfo describes the output of a transform.
type outputInfo struct {
	mime          string
	width, height int // pixels
}

// errUnchanged is returned by transforms if no derived file is needed.
var errUnchanged = errors.New("the item's own bytes can be used")

// derive returns an open derived file. On first use it creates and caches the file. Concurrent calls on this node share
// the work. If two nodes create the same file, the second to finish discards its copy.
func (s *Service) derive(ctx context.Context, i Item, t transform) (derivedFile, blob.Reader, error) {
	d, err := findDerived(ctx, s.db, i, t.variant)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return d, nil, err
	default:
		opened, err := s.openDerived(ctx, i, d)
		if !errors.Is(err, blob.ErrNotFound) || d.blob == "" {
			return d, opened, err
		}
	}
	if d, err = s.deriveShared(ctx, i, t, d.blob); err != nil {
		return d, nil, err
	}
	opened, err := s.openDerived(ctx, i, d)
	return d, opened, err
}

func (s *Service) openDerived(ctx context.Context, i Item, d derivedFile) (blob.Reader, error) {
	if d.blob == "" {
		return s.openBlob(ctx, i.Blob)
	}
	return s.openBlob(ctx, d.blob)
}

// deriveShared returns a derived file, created once for all concurrent callers. The work continues if the callers stop
// waiting, because its result is cached. missingBlob is the same as for makeDerived.
func (s *Service) deriveShared(ctx context.Context, i Item, t transform, missingBlob string) (derivedFile, error) {
	result := s.deriveGroup.DoChan(formatID(i.ID)+" "+t.variant, func() (_ any, err error) {
		defer func() {
			if p := recover(); p != nil { // otherwise singleflight would end the process
				err = fmt.Errorf("deriving a file from media item %d: panic: %v", i.ID, p)
			}
		}()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deriveTimeout)
		defer cancel()
		if missingBlob == "" {
			// The previous shared work may have ended after this caller looked for the file.
			if d, err := findDerived(ctx, s.db, i, t.variant); !errors.Is(err, sql.ErrNoRows) {
				return d, err
			}
		}
		return s.makeDerived(ctx, i, t, missingBlob)
	})
	select {
	case <-ctx.Done():
		return derivedFile{}, context.Cause(ctx)
	case res := <-result:
		d, _ := res.Val.(derivedFile)
		return d, res.Err
	}
}

// makeDerived creates and caches a derived file. missingBlob is the key of an earlier derived file whose bytes are
// missing, or empty.
func (s *Service) makeDerived(ctx context.Context, i Item, t transform, missingBlob string) (derivedFile, error) {
	release, err := s.acquireVideo(ctx, i)
	if err != nil {
		return derivedFile{}, err
	}
	defer release()
	if err := s.requireDisk(ctx, i.StoredSize); err != nil {
		return derivedFile{}, err
	}
	src, err := s.openBlob(ctx, i.Blob)
	if err != nil {
		return derivedFile{}, err
	}
	defer src.Close()
	staged, err := s.Blobs.Stage(ctx)
	if err != nil {
		return derivedFile{}, fmt.Errorf("deriving a file: %w", err)
	}
	defer staged.Discard()
	output, err := t.make(ctx, i, src, staged)
	d := derivedFile{
		media: i.ID, team: i.TeamID, variant: t.variant, mime: output.mime, size: staged.Size(), width: output.width,
		height: output.height,
	}
	switch {
	case errors.Is(err, errUnchanged):
		d.sha256, d.mime, d.size, d.width, d.height = i.SHA256, i.Type, i.StoredSize, i.Width, i.Height
		return s.saveDerived(ctx, d, missingBlob)
	case err != nil:
		return d, err
	}
	sum := staged.Sum()
	d.sha256, d.blob = sum[:], i.Blob+derivedInfix+strings.ToLower(rand.Text()[:keySuffixLen])
	if err := s.recordPending(ctx, d.blob); err != nil {
		return d, err
	}
	if err := s.Blobs.Put(ctx, d.blob, staged); err != nil {
		s.deleteBytes(ctx, d.blob)
		return d, fmt.Errorf("storing a derived file: %w", err)
	}
	failpoint.Point("after derived put")
	return s.saveDerived(ctx, d, missingBlob)
}

// acquireVideo waits until the team may process another video, and returns the function that releases the slot. It does
// nothing for images, which a memory limit applies to instead.
func (s *Service) acquireVideo(ctx context.Context, i Item) (func(), error) {
	if i.Kind != Video {
		return func() {}, nil
	}
	err := s.videos.Acquire(ctx, i.TeamID, 1)
	if errors.Is(err, context.DeadlineExceeded) {
		err = loadshed.ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("waiting to work on a video: %w", err)
	}
	return func() { s.videos.Release(i.TeamID, 1) }, nil
}

// saveDerived inserts the row of a derived file. If another node has inserted the row first, it returns that row and
// deletes the bytes of d.
func (s *Service) saveDerived(ctx context.Context, d derivedFile, missingBlob string) (derivedFile, error) {
	result, rolledBack := d, false
	err := s.db.InTx(ctx, "media.derive", func(ctx context.Context, tx *db.Tx) error {
		var err error
		result, err = s.insertDerived(ctx, tx, d, missingBlob)
		rolledBack = err != nil
		return err
	})
	if d.blob != "" && (rolledBack || err == nil && result.blob != d.blob) {
		s.deleteBytes(ctx, d.blob)
	}
	return result, err
}

func (s *Service) insertDerived(ctx context.Context, tx *db.Tx, d derivedFile, missingBlob string) (derivedFile, error) {
	var id int64 // locked, so that the item cannot be deleted without its derived files
	err := tx.QueryRow(ctx, `SELECT id FROM media WHERE id = ? AND team_id = ? AND deleted_at = 0`+s.db.ForUpdate(),
		d.media, d.team).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return d, apierr.ItemNotFound()
	}
	if err != nil {
		return d, fmt.Errorf("locking a media item: %w", err)
	}
	if missingBlob != "" {
		if _, err := tx.Exec(ctx, `DELETE FROM media_derived WHERE media_id = ? AND variant = ? AND blob = ?`, d.media,
			d.variant, missingBlob); err != nil {
			return d, fmt.Errorf("deleting the record of a lost derived file: %w", err)
		}
	}
	n, err := tx.Exec(ctx,
		`INSERT INTO media_derived (media_id, variant, team_id, blob, sha256, type, size_bytes, width, height,
		created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (media_id, variant) DO NOTHING`,
		d.media, d.variant, d.team, d.blob, d.sha256, d.mime, d.size, d.width, d.height, db.Micros(tx.Now()))
	if err != nil {
		return d, fmt.Errorf("storing a derived file: %w", err)
	}
	if n == 0 {
		return findDerived(ctx, tx, Item{ID: d.media, TeamID: d.team}, d.variant)
	}
	if d.blob != "" {
		if err := confirmBytes(ctx, tx, d.blob); err != nil {
			return d, err
		}
	}
	return d, dropDerived(ctx, tx,
		`media_id = ? AND variant NOT IN (SELECT variant FROM media_derived WHERE media_id = ?
			ORDER BY created_at DESC, variant LIMIT ?)`, d.media, d.media, maxDerivedFiles)
}

// findDerived returns a derived file. The error is sql.ErrNoRows if there is none.
func findDerived(ctx context.Context, q db.Querier, i Item, variant string) (derivedFile, error) {
	d := derivedFile{media: i.ID, team: i.TeamID, variant: variant}
	err := q.QueryRow(ctx,
		`SELECT blob, sha256, type, size_bytes, width, height FROM media_derived
		WHERE media_id = ? AND variant = ? AND team_id = ?`, i.ID, variant, i.TeamID).
		Scan(&d.blob, &d.sha256, &d.mime, &d.size, &d.width, &d.height)
	if err != nil {
		return d, fmt.Errorf("finding a derived file: %w", err)
	}
	return d, nil
}

// dropDerived deletes the derived files that match a condition and queues their bytes for the sweep.
func dropDerived(ctx context.Context, tx *db.Tx, condition string, args ...any) error {
	insertArgs := append([]any{db.Micros(tx.Now())}, args...)
	if _, err := tx.Exec(ctx,
		`INSERT INTO media_pending (blob, deleting, created_at) SELECT blob, 1, ? FROM media_derived
		WHERE blob <> '' AND `+condition, insertArgs...); err != nil {
		return fmt.Errorf("queueing derived files for deletion: %w", err)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM media_derived WHERE `+condition, args...); err != nil {
		return fmt.Errorf("deleting derived files: %w", err)
	}
	return nil
}

// expireDerived deletes a batch of derived files that are older than derivedLifetime.
func (s *Service) expireDerived(ctx context.Context) error {
	cutoff := db.Micros(s.db.Now().Add(-derivedLifetime))
	var n int64
	if err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM media_derived WHERE created_at < ? LIMIT 1) old`,
		cutoff).Scan(&n); err != nil || n == 0 {
		return err
	}
	return s.db.InTx(ctx, "media.expire_derived", func(ctx context.Context, tx *db.Tx) error {
		var lastCreatedAt int64 // created_at of the batch's last row; rows with the same time are deleted together
		err := tx.QueryRow(ctx,
			`SELECT MAX(created_at) FROM (SELECT created_at FROM media_derived WHERE created_at < ?
		ORDER BY created_at LIMIT ?) old`, cutoff, sweepBatch).Scan(&lastCreatedAt)
		if err != nil {
			return fmt.Errorf("finding old derived files: %w", err)
		}
		return dropDerived(ctx, tx, `created_at <= ?`, lastCreatedAt)
	})
}
