package shell

import (
	"encoding/csv"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// Sheet is a CSV file (RFC 4180) that is sent while it is written.
type Sheet struct{ csv *csv.Writer }

// NewSheet begins an answer that is a CSV file with a name and columns.
func NewSheet(w http.ResponseWriter, name string, columns ...string) Sheet {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	s := Sheet{csv.NewWriter(w)}
	s.csv.UseCRLF = true
	s.Row(columns...)
	return s
}

// Row writes one. A text that spreadsheets would take for a formula gets an apostrophe before it.
func (s Sheet) Row(cells ...string) {
	for i, c := range cells {
		if strings.IndexAny(c, "=+-@\t\r\n") == 0 && !isNumber(c) {
			cells[i] = "'" + c
		}
	}
	_ = s.csv.Write(cells) // the client may be gone, see Err
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// Flush sends what was written.
func (s Sheet) Flush() { s.csv.Flush() }

// Err returns the error that ended the sending, if there was one.
func (s Sheet) Err() error {
	return s.csv.Error() //nolint:wrapcheck // it is the connection's
}
