// Package store stores the sandbox's data: accounts, posts, sessions, tokens and files.
package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"pressroom.example/pressroom/internal/platform/sqlite"
)

//go:embed schema.sql
var schema string

// Store is the sandbox's SQLite database and a folder of uploaded files.
type Store struct {
	db       *sql.DB
	blobsDir string
}

// Tx is a transaction. All reads and writes run in a transaction.
type Tx struct{ *sql.Tx }

// Open opens the store in dir. It creates dir if necessary.
func Open(dir string) (*Store, error) {
	blobsDir := filepath.Join(dir, "blobs")
	if err := os.RemoveAll(filepath.Join(blobsDir, incomingDir)); err != nil { // a killed process may have left files
		return nil, fmt.Errorf("clearing the folder: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(blobsDir, incomingDir), 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder: %w", err)
	}
	path, err := filepath.Abs(filepath.Join(dir, "sandbox.db"))
	if err != nil {
		return nil, fmt.Errorf("finding the folder: %w", err)
	}
	db, err := sql.Open(sqlite.Driver, sqlite.DSN(path, true))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	db.SetMaxOpenConns(1) // SQLite allows only one writer, and waiting here is fairer than waiting in SQLite
	if _, err := db.ExecContext(context.Background(), schema); err != nil {
		return nil, errors.Join(fmt.Errorf("creating the tables of %s: %w", path, err), db.Close())
	}
	return &Store{db: db, blobsDir: blobsDir}, nil
}

// Close closes the database.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing the sandbox's data: %w", err)
	}
	return nil
}

// InTx runs do in a transaction and commits it if do returns nil. When InTx returns, the data is on disk.
func (s *Store) InTx(ctx context.Context, do func(Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	if err := do(Tx{tx}); err != nil {
		_ = tx.Rollback() // return the first error instead
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing a transaction: %w", err)
	}
	return nil
}

// Run executes a statement. action describes the statement in errors, as in "saving a post".
func (t Tx) Run(ctx context.Context, action, statement string, args ...any) error {
	if _, err := t.ExecContext(ctx, statement, args...); err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return nil
}

// Strings returns the rows of a query that has one column. action describes the query in errors.
func (t Tx) Strings(ctx context.Context, action, query string, args ...any) ([]string, error) {
	rows, err := t.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", action, err)
	}
	defer rows.Close()
	var values []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, fmt.Errorf("%s: %w", action, err)
		}
		values = append(values, text)
	}
	return values, rows.Err()
}

// Key returns the secret for hashing passwords and tokens. The first call creates the secret.
func (s *Store) Key() ([]byte, error) {
	ctx := context.Background()
	var key []byte
	err := s.InTx(ctx, func(t Tx) error {
		_, err := t.ExecContext(ctx, `insert into settings (name, value) values ('key', ?) on conflict do nothing`,
			[]byte(rand.Text()+rand.Text()))
		if err != nil {
			return fmt.Errorf("creating the key: %w", err)
		}
		if err := t.QueryRowContext(ctx, `select value from settings where name = 'key'`).Scan(&key); err != nil {
			return fmt.Errorf("reading the key: %w", err)
		}
		return nil
	})
	return key, err
}
