package media

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"pressroom/internal/platform/blob"
	"pressroom/internal/platform/db"
)

// homeFolder is where the store has a file that says to which database it belongs.
const homeFolder = "store/"

// CheckStore refuses a store of files that is not this database's: items would seem to have lost their bytes, and new
// ones would lie apart. The first store that a database meets becomes its own.
func (s *Service) CheckStore(ctx context.Context) error {
	name, err := s.homeName(ctx)
	if err == nil && name == "" {
		name, err = s.settle(ctx)
	}
	if err != nil {
		return err
	}
	r, err := s.Blobs.Open(ctx, homeFolder+name)
	if errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("the store of files is not the one of this database: it has no file %s; say where the files "+
			"are by PRESSROOM_BLOBS (--blobs). "+
			"Where they are lost for good, put a file of that name there: pressroom admin audit then tells what "+
			"is missing", homeFolder+name)
	}
	if err != nil {
		return fmt.Errorf("looking whether the store of files is this database's: %w", err)
	}
	return r.Close()
}

func (s *Service) homeName(ctx context.Context) (string, error) {
	var name string
	err := s.db.QueryRow(ctx, `SELECT name FROM blob_store WHERE id = 1`).Scan(&name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading which store of files is this database's: %w", err)
	}
	return name, nil
}

// settle makes a store this database's. Of nodes that start together one is first.
func (s *Service) settle(ctx context.Context) (string, error) {
	mine := uuid.NewString()
	if err := s.putBytes(ctx, homeFolder+mine, []byte("pressroom\n")); err != nil {
		return "", fmt.Errorf("marking the store of files: %w", err)
	}
	err := s.db.InTx(ctx, "media.settle", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO blob_store (id, name) VALUES (1, ?) ON CONFLICT (id) DO NOTHING`, mine)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("noting which store of files is this database's: %w", err)
	}
	name, err := s.homeName(ctx)
	if err == nil && name != mine {
		err = s.Blobs.Delete(ctx, homeFolder+mine)
	}
	return name, err
}
