package shell

import (
	"encoding/csv"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// CSVWriter writes a CSV file (RFC 4180) as the response.
type CSVWriter struct{ csv *csv.Writer }

// NewCSVWriter starts a CSV file with the given file name and header row.
func NewCSVWriter(w http.ResponseWriter, name string, columns ...string) CSVWriter {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	out := CSVWriter{csv.NewWriter(w)}
	out.csv.UseCRLF = true
	out.WriteRow(columns...)
	return out
}

// WriteRow writes one row. It puts an apostrophe before text that spreadsheets would treat as a formula.
func (w CSVWriter) WriteRow(cells ...string) {
	for i, c := range cells {
		if strings.IndexAny(c, "=+-@\t\r\n") == 0 && !isNumber(c) {
			cells[i] = "'" + c
		}
	}
	_ = w.csv.Write(cells) // Err returns the error
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// Flush sends the buffered rows.
func (w CSVWriter) Flush() { w.csv.Flush() }

// Err returns the first write error, if any.
func (w CSVWriter) Err() error {
	return w.csv.Error() //nolint:wrapcheck // the error comes from the connection
}
