//go:build !cgo

package db

import (
	"net/url"

	_ "modernc.org/sqlite" // the SQLite driver in pure Go, about half as fast
)

const sqliteDriver = "sqlite"

// sqliteDSN asks for a durable write-ahead log; readers cannot write.
func sqliteDSN(path string, writer bool) string {
	v := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}, "_txlock": {"immediate"}}
	if !writer {
		v.Add("_pragma", "query_only(1)")
		v.Set("_txlock", "deferred")
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + v.Encode()
}
