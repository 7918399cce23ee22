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

// markerFolder contains the file that names the database of a blob store.
const markerFolder = "store/"

// CheckStore returns an error for a blob store of another database, in which items would seem to have lost their
// bytes. An unclaimed store is claimed for this database.
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
		return fmt.Errorf("the store of files is not the one of this database: it has no file %s; say where the "+
			"files are by PRESSROOM_BLOBS (--blobs). Where they are lost for good, put a file of that name there: "+
			"pressroom admin audit then tells what is missing", markerFolder+name)
	}
	if err != nil {
		return fmt.Errorf("checking whether the store of files is this database's: %w", err)
	}
	return r.Close()
}

func (s *Service) markerName(ctx context.Context) (string, error) {
	var name string
	err := s.db.QueryRow(ctx, `SELECT name FROM blob_store WHERE id = 1`).Scan(&name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading which store of files is this database's: %w", err)
	}
	return name, nil
}

// claimStore makes a store this database's. If nodes start together, the first one wins.
func (s *Service) claimStore(ctx context.Context) (string, error) {
	mine := uuid.NewString()
	if err := s.putBytes(ctx, markerFolder+mine, []byte("pressroom\n")); err != nil {
		return "", fmt.Errorf("marking the store of files: %w", err)
	}
	err := s.db.InTx(ctx, "media.settle", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO blob_store (id, name) VALUES (1, ?) ON CONFLICT (id) DO NOTHING`, mine)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("recording which store of files is this database's: %w", err)
	}
	name, err := s.markerName(ctx)
	if err == nil && name != mine {
		err = s.Blobs.Delete(ctx, markerFolder+mine)
	}
	return name, err
}
