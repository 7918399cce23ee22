package sandbox

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"pressroom/internal/platform/sqlite"
)

//go:embed schema.sql
var schema string

// store is the sandbox's own SQLite file, and the folder of uploaded files beside it.
type store struct {
	db    *sql.DB
	blobs string
}

// tx is one transaction; all reading and writing goes through one.
type tx struct{ *sql.Tx }

func openStore(dir string) (*store, error) {
	blobs := filepath.Join(dir, "blobs")
	if err := os.RemoveAll(filepath.Join(blobs, incoming)); err != nil { // what a kill left half-written
		return nil, fmt.Errorf("clearing the folder: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(blobs, incoming), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder: %w", err)
	}
	path, err := filepath.Abs(filepath.Join(dir, "sandbox.db"))
	if err != nil {
		return nil, fmt.Errorf("finding the folder: %w", err)
	}
	db, err := sql.Open(sqlite.Driver, sqlite.DSN(path, true))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	db.SetMaxOpenConns(1) // one writer is all that SQLite has; waiting for it here is fairer than in SQLite
	if _, err := db.ExecContext(context.Background(), schema); err != nil {
		return nil, errors.Join(fmt.Errorf("making the tables of %s: %w", path, err), db.Close())
	}
	return &store{db: db, blobs: blobs}, nil
}

func (s *store) close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing the sandbox's data: %w", err)
	}
	return nil
}

// in runs do in one transaction, which is kept if do returns nil and is on disk when in returns nil.
func (s *store) in(ctx context.Context, do func(tx) error) error {
	begun, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	if err := do(tx{begun}); err != nil {
		_ = begun.Rollback() // the first error is the one to tell
		return err
	}
	if err := begun.Commit(); err != nil {
		return fmt.Errorf("keeping a transaction: %w", err)
	}
	return nil
}

// ownKey is the secret that passwords and tokens are hashed with, made when it is first asked for.
func (s *store) ownKey() ([]byte, error) {
	ctx := context.Background()
	var key []byte
	err := s.in(ctx, func(t tx) error {
		_, err := t.ExecContext(ctx, `insert into settings (name, value) values ('key', ?) on conflict do nothing`,
			[]byte(rand.Text()+rand.Text()))
		if err != nil {
			return fmt.Errorf("making the key: %w", err)
		}
		if err := t.QueryRowContext(ctx, `select value from settings where name = 'key'`).Scan(&key); err != nil {
			return fmt.Errorf("reading the key: %w", err)
		}
		return nil
	})
	return key, err
}
