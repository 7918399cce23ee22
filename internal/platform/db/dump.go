package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"pressroom.example/pressroom/internal/platform/sqlite"
)

// The names of the files that Dump writes.
const (
	DumpFile    = "database.sqlite" // an SQLite database
	dumpSchema  = "schema.json"     // describes the dump of a PostgreSQL database, which has a file for each table
	tableSuffix = ".copy"
)

// Version returns the database's schema version and the newest version that this program can migrate to.
func (d *DB) Version(ctx context.Context) (int64, int64, error) {
	p, err := d.migrator()
	if err != nil {
		return 0, 0, err
	}
	is, err := p.GetDBVersion(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("reading the schema version: %w", err)
	}
	sources := p.ListSources()
	return is, sources[len(sources)-1].Version, nil
}

// Dump writes a snapshot of the database to files in an empty folder, while the service continues. It calls read to
// read other data from the same snapshot. A PostgreSQL dump omits the job queue, which can be rebuilt from the other
// tables.
func (d *DB) Dump(ctx context.Context, dir string, read func(context.Context, Querier) error) error {
	if d.dialect.postgres {
		return d.dumpPostgres(ctx, dir, read)
	}
	file := filepath.Join(dir, DumpFile)
	// The writer's connection would block all writers, and the readers' connections cannot write to another file.
	conn, err := sql.Open(sqlite.Driver, sqlite.DSN(d.path, true))
	if err != nil {
		return fmt.Errorf("opening the database to copy it: %w", err)
	}
	defer func() { _ = conn.Close() }() // the connection was used only for reading
	if _, err := conn.ExecContext(ctx, `VACUUM INTO ?`, file); err != nil {
		return fmt.Errorf("copying the database: %w", err)
	}
	if err := syncFile(file); err != nil {
		return err
	}
	return ReadFile(ctx, file, func(q Querier) error { return read(ctx, q) })
}

// ReadFile opens an SQLite file that no process writes to, and calls read with it. It creates no other files.
func ReadFile(ctx context.Context, file string, read func(Querier) error) error {
	conn, err := sql.Open(sqlite.Driver, sqlite.ReadOnlyDSN(file))
	if err != nil {
		return fmt.Errorf("opening the copy of the database: %w", err)
	}
	defer func() { _ = conn.Close() }() // the connection was used only for reading
	var checkResult string
	if err := conn.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&checkResult); err != nil {
		return fmt.Errorf("reading the copy of the database: %w", err)
	}
	if checkResult != "ok" {
		return fmt.Errorf("the copy of the database is damaged: %s", checkResult)
	}
	return read(sqliteFile{conn})
}

// sqliteFile is an SQLite file that is open for reading.
type sqliteFile struct{ db *sql.DB }

func (s sqliteFile) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return s.db.QueryContext(ctx, query, args...)
}

func (s sqliteFile) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	return s.db.QueryRowContext(ctx, query, args...)
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0o600) //nolint:gosec // G304: part of the operator's backup
	if err != nil {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("syncing %s: %w", path, err)
	}
	return nil
}
