//go:build !cgo

package floor

import (
	"net/url"

	_ "modernc.org/sqlite" // the driver that pressroom uses without cgo
)

// SQLiteDriver is the name of the driver.
const SQLiteDriver = "sqlite"

func sqliteDSN(path string, writer bool) string {
	v := url.Values{
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}, "_txlock": {"immediate"},
	}
	if !writer {
		v.Add("_pragma", "query_only(1)")
		v.Set("_txlock", "deferred")
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + v.Encode()
}
