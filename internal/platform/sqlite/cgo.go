//go:build cgo

// Package sqlite selects the SQLite driver and builds data source names, which enable a durable write-ahead log. With
// cgo, the driver is mattn/go-sqlite3. Without cgo, it is modernc.org/sqlite, which is about half as fast.
package sqlite

import (
	"errors"
	"net/url"
	"slices"

	"github.com/mattn/go-sqlite3"
)

// Driver is the name of the driver for database/sql.
const Driver = "sqlite3"

// DSN returns the data source name of a file. If writer is true, it is for the file's only writer. Otherwise, it is for
// a reader, which cannot write.
func DSN(path string, writer bool) string {
	v := url.Values{
		"_journal_mode": {"WAL"}, "_synchronous": {"FULL"}, "_busy_timeout": {"10000"}, "_foreign_keys": {"1"},
		"_txlock": {"immediate"},
	}
	if !writer {
		v.Set("_query_only", "1")
		v.Set("_txlock", "deferred")
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + v.Encode()
}

// ReadOnlyDSN returns the data source name for reading a file that no process writes to. In this mode, SQLite does not
// create other files.
func ReadOnlyDSN(path string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro&immutable=1"
}

// IsBusy reports whether a statement timed out waiting for another process's transaction.
func IsBusy(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrBusy
}

var unavailableCodes = []sqlite3.ErrNo{
	sqlite3.ErrBusy, sqlite3.ErrFull, sqlite3.ErrIoErr, sqlite3.ErrCantOpen, sqlite3.ErrReadonly,
}

// IsUnavailable reports whether an error means that the file is temporarily unavailable: another process has locked the
// file, or the disk is full, broken or read-only.
func IsUnavailable(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && slices.Contains(unavailableCodes, e.Code)
}
