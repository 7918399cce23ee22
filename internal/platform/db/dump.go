package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pressroom/internal/platform/sqlite"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// The names of what Dump writes.
const (
	DumpFile   = "database.sqlite" // all of an SQLite database
	dumpSchema = "schema.json"     // of PostgreSQL's, beside a file for each table
	tableEnd   = ".copy"
)

// dumped is what a dump of PostgreSQL says of itself.
type dumped struct {
	Version   int64      `json:"version"` // of the migrations
	Tables    []table    `json:"tables"`  // each behind those that it refers to
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

// Version is how far the database is migrated, and then how far this program migrates one.
func (d *DB) Version(ctx context.Context) (int64, int64, error) {
	p, err := d.migrator()
	if err != nil {
		return 0, 0, err
	}
	is, err := p.GetDBVersion(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("reading how far the database is migrated: %w", err)
	}
	sources := p.ListSources()
	return is, sources[len(sources)-1].Version, nil
}

// Dump writes all that the database holds at one moment as files of an empty folder, while others go on writing to it,
// and shows that moment to look. The queue is left out of PostgreSQL's, as what is to be woken stands in the records.
func (d *DB) Dump(ctx context.Context, dir string, look func(context.Context, Querier) error) error {
	if d.dialect.postgres {
		return d.dumpPostgres(ctx, dir, look)
	}
	file := filepath.Join(dir, DumpFile)
	// The writer's connection would keep everybody waiting, and readers may not write another file either.
	conn, err := sql.Open(sqlite.Driver, sqlite.DSN(d.path, true))
	if err != nil {
		return fmt.Errorf("opening the database to copy it: %w", err)
	}
	defer func() { _ = conn.Close() }() // nothing of it is wanted any more
	if _, err := conn.ExecContext(ctx, `VACUUM INTO ?`, file); err != nil {
		return fmt.Errorf("copying the database: %w", err)
	}
	if err := syncFile(file); err != nil {
		return err
	}
	return LookAt(ctx, file, func(q Querier) error { return look(ctx, q) })
}

// LookAt opens an SQLite file that nobody writes to, for reading alone: nothing is made beside it.
func LookAt(ctx context.Context, file string, look func(Querier) error) error {
	conn, err := sql.Open(sqlite.Driver, sqlite.ReadOnlyDSN(file))
	if err != nil {
		return fmt.Errorf("opening the copy of the database: %w", err)
	}
	defer func() { _ = conn.Close() }() // it was only read
	var found string
	if err := conn.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found); err != nil {
		return fmt.Errorf("reading the copy of the database: %w", err)
	}
	if found != "ok" {
		return fmt.Errorf("the copy of the database is damaged: %s", found)
	}
	return look(still{conn})
}

// still is an SQLite file for reading.
type still struct{ db *sql.DB }

func (s still) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return s.db.QueryContext(ctx, query, args...)
}

func (s still) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	return s.db.QueryRowContext(ctx, query, args...)
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0o600) //nolint:gosec // G304: of the operator's backup
	if err != nil {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("bringing %s to disk: %w", path, err)
	}
	return nil
}

// session is one connection of PostgreSQL, in a transaction.
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

// pg runs what speaks PostgreSQL's own protocol.
func (s session) pg(work func(*pgx.Conn) error) error {
	return s.Raw(func(raw any) error {
		c, ok := raw.(*stdlib.Conn)
		if !ok {
			return errors.New("the connection is not PostgreSQL's")
		}
		return work(c.Conn())
	})
}

// on runs some work on one connection of PostgreSQL, in a transaction that begins as is said.
func (d *DB) on(ctx context.Context, begin string, work func(context.Context, session) error) error {
	conn, err := d.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer func() { _ = conn.Close() }() // it only goes back to the pool
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	if err := work(ctx, session{conn, d.dialect}); err != nil {
		_, back := conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
		return errors.Join(err, back)
	}
	if _, err := conn.ExecContext(ctx, `COMMIT`); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

func (d *DB) dumpPostgres(ctx context.Context, dir string, look func(context.Context, Querier) error) error {
	version, _, err := d.Version(ctx)
	if err != nil {
		return err
	}
	return d.on(ctx, `BEGIN READ ONLY, ISOLATION LEVEL REPEATABLE READ`, func(ctx context.Context, at session) error {
		out := dumped{Version: version}
		if err := at.pg(func(pg *pgx.Conn) error { return out.dump(ctx, pg, dir) }); err != nil {
			return err
		}
		if err := look(ctx, at); err != nil {
			return err
		}
		return out.keep(dir)
	})
}

func (from *dumped) dump(ctx context.Context, pg *pgx.Conn, dir string) error {
	var err error
	if from.Tables, err = tables(ctx, pg); err != nil {
		return err
	}
	for i := range from.Tables {
		if err := from.Tables[i].dump(ctx, pg, dir); err != nil {
			return err
		}
	}
	from.Sequences, err = sequences(ctx, pg)
	return err
}

func (from *dumped) keep(dir string) error {
	raw, err := json.MarshalIndent(from, "", " ")
	if err != nil {
		return fmt.Errorf("writing what the database holds: %w", err)
	}
	path := filepath.Join(dir, dumpSchema)
	if err := os.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing what the database holds: %w", err)
	}
	return syncFile(path)
}

// notDumped are the queue's tables and the record of migrations: a database that is filled has its own.
const notDumped = `c.relname NOT LIKE 'river\_%' AND c.relname <> 'goose_db_version'`

// tables lists the tables of the database, each behind those that it refers to.
func tables(ctx context.Context, pg *pgx.Conn) ([]table, error) {
	rows, err := pg.Query(ctx,
		`SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum) FROM pg_class c
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND `+notDumped+
			` GROUP BY c.relname ORDER BY c.relname`)
	if err != nil {
		return nil, fmt.Errorf("listing tables: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (table, error) {
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
		return nil, fmt.Errorf("listing what tables refer to: %w", err)
	}
	arrows, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([2]string, error) {
		var a [2]string
		err := row.Scan(&a[0], &a[1])
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("listing what tables refer to: %w", err)
	}
	return behind(all, arrows)
}

// behind puts each table behind those that it refers to.
func behind(all []table, arrows [][2]string) ([]table, error) {
	var out []table
	placed := map[string]bool{}
	for len(out) < len(all) {
		before := len(out)
		for _, t := range all {
			waits := slices.ContainsFunc(arrows, func(a [2]string) bool { return a[0] == t.Name && !placed[a[1]] })
			if !placed[t.Name] && !waits {
				out, placed[t.Name] = append(out, t), true
			}
		}
		if len(out) == before {
			return nil, errors.New("tables refer to one another in a circle")
		}
	}
	return out, nil
}

func (t *table) quoted() (string, string) {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = pgx.Identifier{c}.Sanitize()
	}
	return pgx.Identifier{t.Name}.Sanitize(), strings.Join(columns, ", ")
}

func (t *table) dump(ctx context.Context, pg *pgx.Conn, dir string) error {
	path := filepath.Join(dir, t.Name+tableEnd)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // G304: of the operator's backup
	if err != nil {
		return fmt.Errorf("making a file for the table %s: %w", t.Name, err)
	}
	name, columns := t.quoted()
	told, err := pg.PgConn().CopyTo(ctx, f, `COPY `+name+` (`+columns+`) TO STDOUT`)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("copying the table %s: %w", t.Name, err)
	}
	t.Rows = told.RowsAffected()
	return nil
}

func sequences(ctx context.Context, pg *pgx.Conn) ([]sequence, error) {
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

// Stands tells what is in a database that is to be filled; empty where it has no tables of ours, or none with a row but
// what the migrations put there.
func (d *DB) Stands(ctx context.Context) (string, error) {
	if !d.dialect.postgres {
		return "", errors.New("an SQLite file is restored as a whole")
	}
	has, err := d.counts(ctx,
		`SELECT (SELECT COUNT(*) FROM pg_class c
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')), 0,
		(SELECT COUNT(*) FROM pg_class c
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relname IN ('goose_db_version', 'people',
		'teams', 'events', 'hold'))`)
	switch {
	case err != nil:
		return "", err
	case has[0] == 0:
		return "", nil
	case has[2] < 5: //nolint:mnd // the five above
		return fmt.Sprintf("%d tables of something else, or of a restore that was cut off while it made them: give an "+
			"empty database", has[0]), nil
	}
	if has, err = d.counts(ctx,
		`SELECT (SELECT COUNT(*) FROM people), (SELECT COUNT(*) FROM teams), (SELECT COUNT(*)
		FROM events)`); err != nil {
		return "", err
	}
	if has[0]+has[1]+has[2] > 0 {
		return fmt.Sprintf("a database of pressroom with %d people, %d teams and %d events", has[0], has[1], has[2]),
			nil
	}
	return "", nil
}

func (d *DB) counts(ctx context.Context, query string) ([3]int64, error) {
	var n [3]int64
	if err := d.QueryRow(ctx, query).Scan(&n[0], &n[1], &n[2]); err != nil {
		return n, fmt.Errorf("looking what the database holds: %w", err)
	}
	return n, nil
}

// Load fills an empty PostgreSQL database with what Dump wrote, all of it or nothing, and runs then in the same
// transaction. The database is migrated as far as the dump's was; it is an error where this program cannot.
func (d *DB) Load(ctx context.Context, dir string, then func(exec func(query string, args ...any) error) error) error {
	from, err := readDump(dir)
	if err != nil {
		return err
	}
	p, err := d.migrator()
	if err != nil {
		return err
	}
	if sources := p.ListSources(); sources[len(sources)-1].Version < from.Version {
		return fmt.Errorf("the backup's database has the version %d, and this program knows none after %d: take a "+
			"newer program", from.Version, sources[len(sources)-1].Version)
	}
	if err := d.Alone(ctx, func(ctx context.Context) error {
		_, err := p.UpTo(ctx, from.Version)
		return err
	}); err != nil {
		return fmt.Errorf("migrating the database to version %d: %w", from.Version, err)
	}
	return d.on(ctx, `BEGIN`, func(ctx context.Context, in session) error {
		if err := in.pg(func(pg *pgx.Conn) error { return from.load(ctx, pg, dir) }); err != nil {
			return err
		}
		return then(func(query string, args ...any) error {
			_, err := in.ExecContext(ctx, d.dialect.bind(query), args...)
			return err
		})
	})
}

// load fills the tables. Their triggers rest meanwhile: what these would write stands in the dump.
func (from *dumped) load(ctx context.Context, pg *pgx.Conn, dir string) error {
	for _, t := range slices.Backward(from.Tables) {
		name, _ := t.quoted()
		for _, statement := range []string{`ALTER TABLE ` + name + ` DISABLE TRIGGER USER`, `DELETE FROM ` + name} {
			if _, err := pg.Exec(ctx, statement); err != nil {
				return fmt.Errorf("emptying the table %s: %w", t.Name, err)
			}
		}
	}
	for _, t := range from.Tables {
		if err := t.load(ctx, pg, dir); err != nil {
			return err
		}
	}
	for _, t := range from.Tables {
		name, _ := t.quoted()
		if _, err := pg.Exec(ctx, `ALTER TABLE `+name+` ENABLE TRIGGER USER`); err != nil {
			return fmt.Errorf("enabling the triggers of %s: %w", t.Name, err)
		}
	}
	for _, s := range from.Sequences {
		if _, err := pg.Exec(ctx, `SELECT setval($1::regclass, $2)`, pgx.Identifier{s.Name}.Sanitize(),
			s.Last); err != nil {
			return fmt.Errorf("setting the sequence %s: %w", s.Name, err)
		}
	}
	return nil
}

func (t *table) load(ctx context.Context, pg *pgx.Conn, dir string) error {
	f, err := os.Open(filepath.Join(dir, t.Name+tableEnd)) //nolint:gosec // G304: of the operator's backup
	if err != nil {
		return fmt.Errorf("opening the table %s: %w", t.Name, err)
	}
	defer f.Close()
	name, columns := t.quoted()
	told, err := pg.PgConn().CopyFrom(ctx, io.Reader(f), `COPY `+name+` (`+columns+`) FROM STDIN`)
	if err != nil {
		return fmt.Errorf("filling the table %s: %w", t.Name, err)
	}
	if told.RowsAffected() != t.Rows {
		return fmt.Errorf("the table %s has %d rows and should have %d", t.Name, told.RowsAffected(), t.Rows)
	}
	return nil
}

// CheckDump holds the tables of a dump of PostgreSQL against what it says of itself: each row is a line.
func CheckDump(dir string, lines func(path string) (int64, error)) error {
	from, err := readDump(dir)
	if err != nil {
		return err
	}
	for _, t := range from.Tables {
		n, err := lines(filepath.Join(dir, t.Name+tableEnd))
		if err != nil {
			return err
		}
		if n != t.Rows {
			return fmt.Errorf("the table %s has %d rows and should have %d", t.Name, n, t.Rows)
		}
	}
	return nil
}

func readDump(dir string) (dumped, error) {
	var from dumped
	raw, err := os.ReadFile(filepath.Join(dir, dumpSchema)) //nolint:gosec // G304: of the operator's backup
	if err != nil {
		return from, fmt.Errorf("reading what the backup holds: %w", err)
	}
	if err := json.Unmarshal(raw, &from); err != nil {
		return from, fmt.Errorf("reading what the backup holds: %w", err)
	}
	return from, nil
}
