package shell

import (
	"encoding/csv"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// Sheet writes a CSV file (RFC 4180) as the response.
type Sheet struct{ csv *csv.Writer }

// NewSheet begins a CSV file with a file name and a header row of columns.
func NewSheet(w http.ResponseWriter, name string, columns ...string) Sheet {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	s := Sheet{csv.NewWriter(w)}
	s.csv.UseCRLF = true
	s.Row(columns...)
	return s
}

// Row writes one row. It prefixes text that spreadsheets would treat as a formula with an apostrophe.
func (s Sheet) Row(cells ...string) {
	for i, c := range cells {
		if strings.IndexAny(c, "=+-@\t\r\n") == 0 && !isNumber(c) {
			cells[i] = "'" + c
		}
	}
	_ = s.csv.Write(cells) // Err returns the error
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// Flush sends the buffered rows.
func (s Sheet) Flush() { s.csv.Flush() }

// Err returns the first write error, if any.
func (s Sheet) Err() error {
	return s.csv.Error() //nolint:wrapcheck // it is the connection's error
}
