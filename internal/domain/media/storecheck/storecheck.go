// Package storecheck checks that a blob store belongs to the database.
package storecheck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
)

// MarkerFolder is the key prefix of the marker file in a blob store. The database records the name of the file.
const MarkerFolder = "store/"

// Check returns an error if the blob store does not belong to this database. With the wrong store, all items would seem
// to have lost their bytes. If this database has no store yet, Check claims the store for it.
func Check(ctx context.Context, d *db.DB, blobs blob.Store) error {
	name, err := markerName(ctx, d)
	if err == nil && name == "" {
		name, err = claim(ctx, d, blobs)
	}
	if err != nil {
		return err
	}
	r, err := blobs.Open(ctx, MarkerFolder+name)
	if errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("the media store belongs to another database, because it has no file %s; set the correct "+
			"location with PRESSROOM_BLOBS (--blobs). If the files are lost permanently, create a file with this name: "+
			"pressroom admin audit then lists the missing files", MarkerFolder+name)
	}
	if err != nil {
		return fmt.Errorf("checking the database of the media store: %w", err)
	}
	return r.Close()
}

// markerName returns the recorded name of the store's marker file, or "" if there is none.
func markerName(ctx context.Context, d *db.DB) (string, error) {
	var name string
	err := d.QueryRow(ctx, `SELECT name FROM blob_store WHERE id = 1`).Scan(&name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading the name of the media store: %w", err)
	}
	return name, nil
}

// claim makes the store belong to this database and returns the name of its marker file. If nodes start
// concurrently, the first node wins.
func claim(ctx context.Context, d *db.DB, blobs blob.Store) (string, error) {
	newName := uuid.NewString()
	if err := blob.PutBytes(ctx, blobs, MarkerFolder+newName, []byte("pressroom\n")); err != nil {
		return "", fmt.Errorf("marking the media store: %w", err)
	}
	err := d.InTx(ctx, "media.settle", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO blob_store (id, name) VALUES (1, ?) ON CONFLICT (id) DO NOTHING`, newName)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("recording the name of the media store: %w", err)
	}
	name, err := markerName(ctx, d)
	if err == nil && name != newName {
		err = blobs.Delete(ctx, MarkerFolder+newName)
	}
	return name, err
}
