// Package testkit provides new SQLite and PostgreSQL databases, a clock and free addresses for tests.
package testkit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the PostgreSQL driver

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/require"
)

// PostgresVariable is the environment variable with the URL of a PostgreSQL server whose user may create databases.
// Without it tests use only SQLite. scripts/with-postgres sets it.
const PostgresVariable = "PRESSROOM_TEST_POSTGRES"

// EachDatabase runs a test on a new, migrated database: on SQLite and, if available, on PostgreSQL.
func EachDatabase(t *testing.T, run func(t *testing.T, url string)) {
	t.Helper()
	runOnDatabases(t, SQLite, Postgres, run)
}

// EachEmptyDatabase runs a test like EachDatabase, but on databases without tables.
func EachEmptyDatabase(t *testing.T, run func(t *testing.T, url string)) {
	t.Helper()
	runOnDatabases(t, emptySQLite, EmptyPostgres, run)
}

func runOnDatabases(t *testing.T, sqlite, postgres func(testing.TB) string, run func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { run(t, sqlite(t)) })
	t.Run("postgres", func(t *testing.T) {
		if os.Getenv(PostgresVariable) == "" {
			require.Missing(t, "a PostgreSQL server in "+PostgresVariable+", which make test sets")
		}
		run(t, postgres(t))
	})
}

// SQLite returns the URL of a new, migrated SQLite file.
func SQLite(tb testing.TB) string {
	tb.Helper()
	template, err := sqliteTemplate()
	if err != nil {
		tb.Fatalf("creating the SQLite template: %v", err)
	}
	url := emptySQLite(tb)
	if err := os.WriteFile(strings.TrimPrefix(url, "sqlite:"), template, 0o600); err != nil {
		tb.Fatalf("copying the SQLite file: %v", err)
	}
	return url
}

func emptySQLite(tb testing.TB) string {
	tb.Helper()
	return "sqlite:" + filepath.Join(memoryDir(tb), "test.db")
}

// Blobs returns the URL of a new, empty blob store.
func Blobs(tb testing.TB) string {
	tb.Helper()
	return "file:" + filepath.Join(memoryDir(tb), "media")
}

// memoryDir returns a directory in memory if possible, because tests make thousands of commits.
func memoryDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "pressroom-test-") //nolint:usetesting // TempDir is on the disk
	if err != nil {
		return tb.TempDir()
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

var (
	databaseCount atomic.Int64
	openServer    = sync.OnceValues(func() (*sql.DB, error) { return sql.Open("pgx", os.Getenv(PostgresVariable)) })
)

// Postgres returns the URL of a new, migrated PostgreSQL database. It is dropped when the test ends.
func Postgres(tb testing.TB) string {
	tb.Helper()
	template, err := postgresTemplate()
	if err != nil {
		tb.Fatalf("creating the PostgreSQL template: %v", err)
	}
	return postgres(tb, template)
}

var postgresCopyMutex sync.Mutex // PostgreSQL allows only one copy of a database at a time.

// Copy returns the URL of a copy of a database that no process has open. A server treats the copy as the original.
func Copy(tb testing.TB, from string) (string, error) {
	tb.Helper()
	var to string
	if path, ok := strings.CutPrefix(from, "sqlite:"); ok {
		raw, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		to = emptySQLite(tb)
		if err := os.WriteFile(strings.TrimPrefix(to, "sqlite:"), raw, 0o600); err != nil {
			return "", err
		}
	} else {
		source, err := url.Parse(from)
		if err != nil {
			return "", err
		}
		postgresCopyMutex.Lock()
		defer postgresCopyMutex.Unlock()
		to = postgres(tb, strings.TrimPrefix(source.Path, "/"))
	}
	return to, RemoveLocation(to)
}

// RemoveLocation removes the recorded location from a database, so that a server accepts a copy as the original.
func RemoveLocation(url string) error {
	d, err := db.Open(context.Background(), url, db.Options{})
	if err != nil {
		return fmt.Errorf("opening a copy: %w", err)
	}
	err = d.InTx(context.Background(), "test.remove_place", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE hold SET place = '', starts = 0 WHERE id = 1`)
		return err
	})
	return errors.Join(err, d.Close())
}

// EmptyPostgres returns the URL of a new PostgreSQL database without tables. It is dropped when the test ends.
func EmptyPostgres(tb testing.TB) string {
	tb.Helper()
	return postgres(tb, "")
}

// OpenPostgres opens a PostgreSQL database without pressroom's pool. It closes the database when the test ends.
func OpenPostgres(tb testing.TB, database string) *sql.DB {
	tb.Helper()
	u, err := url.Parse(database)
	if err != nil {
		tb.Fatalf("reading the URL of a database: %v", err)
	}
	query := u.Query()
	query.Del(maxConns)
	u.RawQuery = query.Encode()
	d, err := sql.Open("pgx", u.String())
	if err != nil {
		tb.Fatalf("opening a database: %v", err)
	}
	tb.Cleanup(func() { _ = d.Close() })
	return d
}

func postgres(tb testing.TB, template string) string {
	tb.Helper()
	name, err := create(template)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		server, err := openServer()
		if err == nil {
			_, err = server.Exec("DROP DATABASE " + name + " WITH (FORCE)")
		}
		if err != nil {
			tb.Errorf("dropping a database: %v", err)
		}
	})
	return postgresURL(name)
}

// Open opens and migrates the database at a URL. It closes the database when the test ends.
func Open(tb testing.TB, url string, clock *Clock) *db.DB {
	tb.Helper()
	opts := db.Options{}
	if clock != nil {
		opts.Now = clock.Now
	}
	d, err := db.Open(context.Background(), url, opts)
	if err != nil {
		tb.Fatalf("opening %s: %v", url, err)
	}
	tb.Cleanup(func() { _ = d.Close() })
	if err := d.Migrate(context.Background()); err != nil {
		tb.Fatalf("migrating: %v", err)
	}
	return d
}
