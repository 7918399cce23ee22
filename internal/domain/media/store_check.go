package media

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
)

// markerFolder is the key prefix of the marker file in a blob store. The database records the name of the file.
const markerFolder = "store/"

// CheckStore returns an error if the blob store does not belong to this database. With the wrong store, all items would
// seem to have lost their bytes. If this database has no store yet, CheckStore claims the store for it.
func (s *Service) CheckStore(ctx context.Context) error {
	name, err := s.markerName(ctx)
	if err == nil && name == "" {
		name, err = s.claimStore(ctx)
	}
	if err != nil {
		return err
	}
	r, err := s.Blobs.Open(ctx, markerFolder+name)
	if errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("the media store belongs to another database, because it has no file %s; set the correct "+
			"location with PRESSROOM_BLOBS (--blobs). If the files are lost permanently, create a file with this name: "+
			"pressroom admin audit then lists the missing files", markerFolder+name)
	}
	if err != nil {
		return fmt.Errorf("checking the database of the media store: %w", err)
	}
	return r.Close()
}

// markerName returns the recorded name of the store's marker file, or "" if there is none.
func (s *Service) markerName(ctx context.Context) (string, error) {
	var name string
	err := s.db.QueryRow(ctx, `SELECT name FROM blob_store WHERE id = 1`).Scan(&name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading the name of the media store: %w", err)
	}
	return name, nil
}

// claimStore makes the store belong to this database and returns the name of its marker file. If nodes start
// concurrently, the first node wins.
func (s *Service) claimStore(ctx context.Context) (string, error) {
	mine := uuid.NewString()
	if err := s.putBytes(ctx, markerFolder+mine, []byte("pressroom\n")); err != nil {
		return "", fmt.Errorf("marking the media store: %w", err)
	}
	err := s.db.InTx(ctx, "media.settle", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO blob_store (id, name) VALUES (1, ?) ON CONFLICT (id) DO NOTHING`, mine)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("recording the name of the media store: %w", err)
	}
	name, err := s.markerName(ctx)
	if err == nil && name != mine {
		err = s.Blobs.Delete(ctx, markerFolder+mine)
	}
	return name, err
}
