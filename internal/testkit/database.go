// Package testkit makes what tests stand on: fresh databases of both kinds and a clock. Tests alone import it.
package testkit

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the PostgreSQL driver

	"pressroom/internal/db"
)

// PostgresVariable names the variable with the address of a PostgreSQL server whose user may create databases.
// Tests run on SQLite alone where it is not set; scripts/with-postgres sets it.
const PostgresVariable = "PRESSROOM_TEST_POSTGRES"

// EachDatabase runs a test on a fresh, empty database of each kind there is.
func EachDatabase(t *testing.T, run func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { run(t, SQLite(t)) })
	if os.Getenv(PostgresVariable) == "" {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not set: run the tests by make test", PostgresVariable)
		}
		return
	}
	t.Run("postgres", func(t *testing.T) { run(t, Postgres(t)) })
}

// SQLite is the URL of a fresh SQLite file.
func SQLite(tb testing.TB) string {
	tb.Helper()
	return "sqlite:" + filepath.Join(quickDir(tb), "test.db")
}

// Blobs is the URL of a fresh, empty store of files.
func Blobs(tb testing.TB) string {
	tb.Helper()
	return "file:" + filepath.Join(quickDir(tb), "media")
}

// quickDir is a directory in memory where the machine has one: the tests wait for thousands of commits.
func quickDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "pressroom-test-") //nolint:usetesting // TempDir lies on the disk
	if err != nil {
		return tb.TempDir()
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

var (
	made atomic.Int64
	root = sync.OnceValues(func() (*sql.DB, error) { return sql.Open("pgx", os.Getenv(PostgresVariable)) })
)

// Postgres is the URL of a fresh PostgreSQL database, dropped when the test ends.
func Postgres(tb testing.TB) string {
	tb.Helper()
	server, err := root()
	if err != nil {
		tb.Fatalf("opening PostgreSQL: %v", err)
	}
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), made.Add(1))
	if _, err := server.Exec("CREATE DATABASE " + name); err != nil {
		tb.Fatalf("creating a database: %v", err)
	}
	tb.Cleanup(func() {
		if _, err := server.Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			tb.Errorf("dropping a database: %v", err)
		}
	})
	u, err := url.Parse(os.Getenv(PostgresVariable))
	if err != nil {
		tb.Fatalf("%s: %v", PostgresVariable, err)
	}
	u.Path = "/" + name
	return u.String()
}

// Open opens and migrates a database of a URL until the test ends.
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
