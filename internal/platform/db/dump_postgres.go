package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// dumpInfo describes a dump of a PostgreSQL database.
type dumpInfo struct {
	Version   int64      `json:"version"` // version of the schema
	Tables    []table    `json:"tables"`  // each table follows all tables that it references
	Sequences []sequence `json:"sequences"`
}

type table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
}

type sequence struct {
	Name string `json:"name"`
	Last int64  `json:"last"`
}

// session is a connection to PostgreSQL with a running transaction.
type session struct {
	*sql.Conn

	dialect dialect
}

// Query reads rows in the transaction.
func (s session) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return s.QueryContext(ctx, s.dialect.bind(query), args...)
}

// QueryRow reads one row in the transaction.
func (s session) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	return s.QueryRowContext(ctx, s.dialect.bind(query), args...)
}

// withPgxConn calls fn with the underlying pgx connection.
func (s session) withPgxConn(fn func(*pgx.Conn) error) error {
	return s.Raw(func(raw any) error {
		c, ok := raw.(*stdlib.Conn)
		if !ok {
			return errors.New("the connection is not a PostgreSQL connection")
		}
		return fn(c.Conn())
	})
}

// inSession runs fn in a transaction on a connection to PostgreSQL. beginStatement is the statement that starts the
// transaction.
func (d *DB) inSession(ctx context.Context, beginStatement string, fn func(context.Context, session) error) error {
	conn, err := d.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer func() { _ = conn.Close() }() // returns the connection to the pool
	if _, err := conn.ExecContext(ctx, beginStatement); err != nil {
		return fmt.Errorf("beginning the transaction: %w", err)
	}
	if err := fn(ctx, session{conn, d.dialect}); err != nil {
		_, rollbackErr := conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
		return errors.Join(err, rollbackErr)
	}
	if _, err := conn.ExecContext(ctx, `COMMIT`); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

func (d *DB) dumpPostgres(ctx context.Context, dir string, readMore func(context.Context, Querier) error) error {
	version, _, err := d.Version(ctx)
	if err != nil {
		return err
	}
	const beginStatement = `BEGIN READ ONLY, ISOLATION LEVEL REPEATABLE READ`
	return d.inSession(ctx, beginStatement, func(ctx context.Context, s session) error {
		info := dumpInfo{Version: version}
		if err := s.withPgxConn(func(pg *pgx.Conn) error { return info.dumpTables(ctx, pg, dir) }); err != nil {
			return err
		}
		if err := readMore(ctx, s); err != nil {
			return err
		}
		return info.write(dir)
	})
}

func (info *dumpInfo) dumpTables(ctx context.Context, pg *pgx.Conn, dir string) error {
	var err error
	if info.Tables, err = listTables(ctx, pg); err != nil {
		return err
	}
	for n := range info.Tables {
		if err := info.Tables[n].dump(ctx, pg, dir); err != nil {
			return err
		}
	}
	info.Sequences, err = listSequences(ctx, pg)
	return err
}

func (info *dumpInfo) write(dir string) error {
	raw, err := json.MarshalIndent(info, "", " ")
	if err != nil {
		return fmt.Errorf("encoding the description of the dump: %w", err)
	}
	path := filepath.Join(dir, dumpSchema)
	if err := os.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the description of the dump: %w", err)
	}
	return syncFile(path)
}

// dumpedTablesCondition is an SQL condition that excludes the tables of migrations and of the job queue. Migrations
// create these tables again: a restore runs the database's own, and the next start of the service runs the queue's.
const dumpedTablesCondition = `c.relname NOT LIKE 'river\_%' AND c.relname <> 'goose_db_version'`

// listTables returns the tables of the database, sorted such that each table follows the tables that it references.
func listTables(ctx context.Context, pg *pgx.Conn) ([]table, error) {
	rows, err := pg.Query(ctx,
		`SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum) FROM pg_class c
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND `+dumpedTablesCondition+
			` GROUP BY c.relname ORDER BY c.relname`)
	if err != nil {
		return nil, fmt.Errorf("listing tables: %w", err)
	}
	tables, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (table, error) {
		var t table
		err := row.Scan(&t.Name, &t.Columns)
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("listing tables: %w", err)
	}
	rows, err = pg.Query(ctx,
		`SELECT c.relname, f.relname FROM pg_constraint x JOIN pg_class c ON c.oid = x.conrelid
		JOIN pg_class f ON f.oid = x.confrelid
		WHERE x.contype = 'f' AND c.oid <> f.oid AND c.relnamespace = current_schema()::regnamespace`)
	if err != nil {
		return nil, fmt.Errorf("listing foreign keys: %w", err)
	}
	foreignKeys, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([2]string, error) {
		var key [2]string
		err := row.Scan(&key[0], &key[1])
		return key, err
	})
	if err != nil {
		return nil, fmt.Errorf("listing foreign keys: %w", err)
	}
	return sortByForeignKeys(tables, foreignKeys)
}

// sortByForeignKeys sorts tables such that each table follows the tables that it references.
func sortByForeignKeys(tables []table, foreignKeys [][2]string) ([]table, error) {
	var out []table
	isAdded := map[string]bool{}
	for len(out) < len(tables) {
		sortedCount := len(out)
		for _, t := range tables {
			waits := func(key [2]string) bool { return key[0] == t.Name && !isAdded[key[1]] }
			if !isAdded[t.Name] && !slices.ContainsFunc(foreignKeys, waits) {
				out, isAdded[t.Name] = append(out, t), true
			}
		}
		if len(out) == sortedCount {
			return nil, errors.New("the foreign keys of the tables form a cycle")
		}
	}
	return out, nil
}

// identifiers returns the quoted names of the table and of its columns.
func (t *table) identifiers() (string, string) {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = pgx.Identifier{c}.Sanitize()
	}
	return pgx.Identifier{t.Name}.Sanitize(), strings.Join(columns, ", ")
}

func (t *table) dump(ctx context.Context, pg *pgx.Conn, dir string) error {
	path := filepath.Join(dir, t.Name+tableSuffix)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // G304: the operator's folder
	if err != nil {
		return fmt.Errorf("creating a file for the table %s: %w", t.Name, err)
	}
	name, columns := t.identifiers()
	tag, err := pg.PgConn().CopyTo(ctx, f, `COPY `+name+` (`+columns+`) TO STDOUT`)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("copying the table %s: %w", t.Name, err)
	}
	t.Rows = tag.RowsAffected()
	return nil
}

func listSequences(ctx context.Context, pg *pgx.Conn) ([]sequence, error) {
	rows, err := pg.Query(ctx,
		`SELECT sequencename, last_value FROM pg_sequences
		WHERE schemaname = current_schema() AND last_value IS NOT NULL AND sequencename NOT LIKE 'river\_%' AND
		sequencename NOT LIKE 'goose\_%' ORDER BY 1`)
	if err != nil {
		return nil, fmt.Errorf("listing sequences: %w", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (sequence, error) {
		var s sequence
		err := row.Scan(&s.Name, &s.Last)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("listing sequences: %w", err)
	}
	return out, nil
}
