package testkit

import (
	"database/sql"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/db"
)

// Plan returns a statement's query plan, one line per step, without cost estimates.
func Plan(tb testing.TB, d *db.DB, query string, args ...any) string {
	tb.Helper()
	if d.Postgres() {
		return Lines(tb, d, "EXPLAIN (COSTS OFF) "+query, args...)
	}
	return Lines(tb, d, "EXPLAIN QUERY PLAN "+query, args...)
}

// Lines returns the last column of a statement's result, one line per row.
func Lines(tb testing.TB, d *db.DB, statement string, args ...any) string {
	tb.Helper()
	lines, err := db.All(tb.Context(), d, scanLast, statement, args...)
	if err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
	return strings.Join(lines, "\n")
}

func scanLast(rows *sql.Rows, line *string) error {
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values := make([]any, len(columns))
	for n := range values {
		values[n] = new(any)
	}
	values[len(values)-1] = line
	return rows.Scan(values...)
}

// Opcodes returns the opcodes of SQLite's program for a query (sqlite.org/opcode.html).
func Opcodes(tb testing.TB, d *db.DB, query string, args ...any) []string {
	tb.Helper()
	opcodes, err := db.All(tb.Context(), d, func(rows *sql.Rows, opcode *string) error {
		rest := new(any)
		return rows.Scan(rest, opcode, rest, rest, rest, rest, rest, rest)
	}, "EXPLAIN "+query, args...)
	if err != nil {
		tb.Fatalf("EXPLAIN %s: %v", query, err)
	}
	return opcodes
}
