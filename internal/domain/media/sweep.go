package media

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

const (
	sweepBatch       = 100
	maxSweepFailures = 3 // failed deletions after which a sweep ends, because the store may be unreachable
)

// Sweep deletes expired derived files, the bytes of deleted items, and bytes left by interrupted uploads. It considers
// only bytes that this database recorded, so it never deletes a file in use or a file of another service in the same
// store.
func (s *Service) Sweep(ctx context.Context) (int64, error) {
	if err := s.expireDerived(ctx); err != nil {
		return 0, err
	}
	keys, err := db.All(ctx, s.db, func(rows *sql.Rows, key *string) error { return rows.Scan(key) },
		`SELECT blob FROM media_pending WHERE created_at < ? OR deleting = 1 ORDER BY created_at LIMIT ?`,
		db.Micros(s.db.Now().Add(-OrphanGracePeriod)), sweepBatch)
	if err != nil {
		return 0, fmt.Errorf("finding bytes without an item: %w", err)
	}
	var errs []error
	for _, key := range keys {
		if err := s.deleteOrphan(ctx, key); err != nil {
			errs = append(errs, err, s.postpone(ctx, key))
		}
		if len(errs) >= 2*maxSweepFailures {
			break
		}
	}
	return int64(len(keys)), errors.Join(errs...)
}

// postpone moves bytes that could not be deleted to the end of the queue.
func (s *Service) postpone(ctx context.Context, key string) error {
	return s.db.InTx(ctx, "media.postpone", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE media_pending SET created_at = ? WHERE blob = ?`, db.Micros(tx.Now()), key)
		return err
	})
}

// deleteOrphan deletes bytes without an item. It marks them first, so that no new item can reference them.
func (s *Service) deleteOrphan(ctx context.Context, key string) error {
	var markedCount int64
	err := s.db.InTx(ctx, "media.doom", func(ctx context.Context, tx *db.Tx) error {
		var err error
		markedCount, err = tx.Exec(ctx, `UPDATE media_pending SET deleting = 1 WHERE blob = ?`, key)
		return err
	})
	if err != nil {
		return fmt.Errorf("marking bytes without an item: %w", err)
	}
	if markedCount == 0 {
		return nil // the bytes have an item by now, or were deleted
	}
	for _, blob := range []string{key, key + thumbnailSuffix} {
		if err := s.Blobs.Delete(ctx, blob); err != nil {
			return fmt.Errorf("deleting bytes: %w", err)
		}
	}
	err = s.db.InTx(ctx, "media.forget", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM media_pending WHERE blob = ? AND deleting = 1`, key)
		return err
	})
	if err != nil {
		return fmt.Errorf("deleting the record of bytes without an item: %w", err)
	}
	return nil
}
