package sqlite_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/sqlite"
	"pressroom.example/pressroom/internal/testkit/must"
)

func open(t *testing.T, path string, writer bool) *sql.DB {
	t.Helper()
	// Do not wait ten seconds for another process.
	db := must.Get(sql.Open(sqlite.Driver, strings.Replace(sqlite.DSN(path, writer), "10000", "1", 1)))(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Only a second writer that times out is busy.
func TestIsBusy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	first, second := open(t, path, true), open(t, path, true)
	tx := must.Get(first.BeginTx(t.Context(), nil))(t)
	if _, err := second.BeginTx(t.Context(), nil); !sqlite.IsBusy(err) {
		t.Errorf("the second writer: %v", err)
	}
	must.NoError(t, tx.Rollback())
	if _, err := second.ExecContext(t.Context(), `SELECT nothing`); err == nil || sqlite.IsBusy(err) || sqlite.IsBusy(errors.New("busy")) {
		t.Errorf("another error counts as busy: %v", err)
	}
}

// Commits are durable, and readers cannot write.
func TestDSN(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := open(t, path, true)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"} {
		var got string
		if err := db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s (%v)", pragma, got, err)
		}
	}
	if _, err := open(t, path, false).ExecContext(t.Context(), `CREATE TABLE t (x)`); err == nil {
		t.Error("a reader wrote")
	}
}
