//go:build !cgo

// Package sqlite selects the SQLite driver and builds data source names, which enable a durable write-ahead log. With
// cgo, the driver is mattn/go-sqlite3. Without cgo, it is modernc.org/sqlite, which is about half as fast.
package sqlite

import (
	"errors"
	"net/url"
	"slices"

	"modernc.org/sqlite"
)

// Driver is the name of the driver for database/sql.
const Driver = "sqlite"

// DSN returns the data source name of a file. If writer is true, it is for the file's only writer. Otherwise, it is for
// a reader, which cannot write.
func DSN(path string, writer bool) string {
	v := url.Values{
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
		"_txlock": {"immediate"},
	}
	if !writer {
		v.Add("_pragma", "query_only(1)")
		v.Set("_txlock", "deferred")
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + v.Encode()
}

const busy = 5 // SQLITE_BUSY, in the low byte of a result code

// ReadOnlyDSN returns the data source name for reading a file that no process writes to. In this mode, SQLite does not
// create other files.
func ReadOnlyDSN(path string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro&immutable=1"
}

// IsBusy reports whether a statement timed out waiting for another process's transaction.
func IsBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == busy
}

// unavailableCodes lists SQLITE_BUSY, SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL and SQLITE_CANTOPEN.
var unavailableCodes = []int{busy, 8, 10, 13, 14}

// IsUnavailable reports whether an error means that the file is temporarily unavailable: another process has locked the
// file, or the disk is full, broken or read-only.
func IsUnavailable(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && slices.Contains(unavailableCodes, e.Code()&0xff)
}
