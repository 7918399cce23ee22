//go:build cgo

package floor

import (
	"net/url"

	_ "github.com/mattn/go-sqlite3" // the driver that pressroom uses with cgo
)

// SQLiteDriver is the name of the driver.
const SQLiteDriver = "sqlite3"

func sqliteDSN(path string, writer bool) string {
	v := url.Values{
		"_journal_mode": {"WAL"}, "_synchronous": {"FULL"}, "_busy_timeout": {"10000"}, "_foreign_keys": {"1"}, "_txlock": {"immediate"},
	}
	if !writer {
		v.Set("_query_only", "1")
		v.Set("_txlock", "deferred")
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + v.Encode()
}
