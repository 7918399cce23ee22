//go:build !cgo

// Package sqlite chooses the SQLite driver and says how every SQLite file of the program is opened: with a durable
// write-ahead log. Where there is a C compiler it is the one in C, else the one in Go, about half as fast.
package sqlite

import (
	"errors"
	"net/url"
	"slices"

	"modernc.org/sqlite"
)

// Driver is the name of the driver for database/sql.
const Driver = "sqlite"

// DSN is how a file is opened, for the one writer or for readers, which cannot write.
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

const busy = 5 // SQLITE_BUSY, the low byte of a result code

// Still is how a file is opened for reading alone that nobody writes to: nothing is made beside it.
func Still(path string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro&immutable=1"
}

// Busy tells whether a statement gave up waiting for another process's transaction.
func Busy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == busy
}

// away are the result codes of a file that cannot be used at the moment: SQLITE_BUSY, _READONLY, _IOERR, _FULL,
// _CANTOPEN.
var away = []int{busy, 8, 10, 13, 14}

// Away tells whether an error says that the file cannot be used at the moment: another process does not end, the disk
// is full or fails, or may only be read.
func Away(err error) bool {
	e, is := errors.AsType[*sqlite.Error](err)
	return is && slices.Contains(away, e.Code()&0xff)
}
