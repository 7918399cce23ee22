package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// dump returns all rows of the database.
func (h *instance) dump(t *testing.T) []byte {
	t.Helper()
	query := `SELECT name FROM sqlite_master WHERE type = 'table'`
	if h.db.Postgres() {
		query = `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`
	}
	var out bytes.Buffer
	for name := range h.column(t, query) {
		h.dumpTable(t, name, &out)
	}
	if out.Len() < 10_000 {
		t.Errorf("the dump has only %d bytes", out.Len())
	}
	return out.Bytes()
}

// dumpTable writes every row of a table as text.
func (h *instance) dumpTable(t *testing.T, name string, out *bytes.Buffer) {
	t.Helper()
	rows, err := h.db.Query(t.Context(), "SELECT * FROM "+name) //nolint:unqueryvet // all columns are searched
	must.NoError(t, err)
	defer rows.Close()
	columns := must.Get(rows.Columns())(t)
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		must.NoError(t, rows.Scan(into...))
		fmt.Fprintf(out, "%s:", name)
		for _, value := range values {
			if raw, ok := value.([]byte); ok {
				value = string(raw)
			}
			fmt.Fprintf(out, " %v", value)
		}
		out.WriteByte('\n')
	}
	must.NoError(t, rows.Err())
}

func (h *instance) column(t *testing.T, query string) map[string]bool {
	t.Helper()
	rows := must.Get(h.db.Query(t.Context(), query))(t)
	defer rows.Close()
	out := map[string]bool{}
	for rows.Next() {
		var name string
		must.NoError(t, rows.Scan(&name))
		out[name] = true
	}
	must.NoError(t, rows.Err())
	return out
}

// eachFile calls look with each file of the library and of an SQLite database, which may still contain deleted data.
func (h *instance) eachFile(t *testing.T, look func(path string, content []byte)) {
	t.Helper()
	roots := []string{strings.TrimPrefix(h.blobs, "file:")}
	if file, is := strings.CutPrefix(h.url, "sqlite:"); is {
		roots = append(roots, filepath.Dir(file))
	}
	seen := 0
	for _, root := range roots {
		must.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			if err == nil {
				look(filepath.Base(path), content)
				seen++
			}
			return err
		}))
	}
	if seen == 0 {
		t.Error("there are no files")
	}
}
