package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Contents describes the content of a PostgreSQL database before a restore. It returns an empty string if the database
// has no tables, or has only pressroom's tables and these contain no people, teams or events.
func (d *DB) Contents(ctx context.Context) (string, error) {
	if !d.dialect.postgres {
		return "", errors.New("an SQLite database is restored as a file")
	}
	n, err := d.counts(ctx,
		`SELECT (SELECT COUNT(*) FROM pg_class c
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')), 0,
		(SELECT COUNT(*) FROM pg_class c
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relname IN ('goose_db_version', 'people',
		'teams', 'events', 'hold'))`)
	switch {
	case err != nil:
		return "", err
	case n[0] == 0:
		return "", nil
	case n[2] < 5: //nolint:mnd // the tables named in the query
		return fmt.Sprintf("%d tables of another program or of an interrupted restore", n[0]), nil
	}
	n, err = d.counts(ctx,
		`SELECT (SELECT COUNT(*) FROM people), (SELECT COUNT(*) FROM teams), (SELECT COUNT(*) FROM events)`)
	if err != nil {
		return "", err
	}
	if n[0]+n[1]+n[2] > 0 {
		return fmt.Sprintf("%d people, %d teams and %d events", n[0], n[1], n[2]), nil
	}
	return "", nil
}

func (d *DB) counts(ctx context.Context, query string) ([3]int64, error) {
	var n [3]int64
	if err := d.QueryRow(ctx, query).Scan(&n[0], &n[1], &n[2]); err != nil {
		return n, fmt.Errorf("counting the rows of the database: %w", err)
	}
	return n, nil
}

// Load restores a dump to an empty PostgreSQL database. It migrates the database to the dump's schema version. Then, in
// one transaction, it loads the dump and calls beforeCommit.
func (d *DB) Load(ctx context.Context, dir string, beforeCommit func(exec func(query string, args ...any) error) error) error {
	info, err := readDump(dir)
	if err != nil {
		return err
	}
	p, err := d.migrator()
	if err != nil {
		return err
	}
	if sources := p.ListSources(); sources[len(sources)-1].Version < info.Version {
		return fmt.Errorf("the backup's database has version %d, but this program supports only up to %d: use a newer "+
			"program", info.Version, sources[len(sources)-1].Version)
	}
	if err := d.WithMigrationLock(ctx, func(ctx context.Context) error {
		_, err := p.UpTo(ctx, info.Version)
		return err
	}); err != nil {
		return fmt.Errorf("migrating the database to version %d: %w", info.Version, err)
	}
	return d.inSession(ctx, `BEGIN`, func(ctx context.Context, s session) error {
		if err := s.withPgxConn(func(pg *pgx.Conn) error { return info.load(ctx, pg, dir) }); err != nil {
			return err
		}
		return beforeCommit(func(query string, args ...any) error {
			_, err := s.ExecContext(ctx, d.dialect.bind(query), args...)
			return err
		})
	})
}

// load loads the tables with triggers disabled, because the dump already contains the rows that triggers would write.
func (info *dumpInfo) load(ctx context.Context, pg *pgx.Conn, dir string) error {
	for _, t := range slices.Backward(info.Tables) {
		name, _ := t.identifiers()
		for _, statement := range []string{`ALTER TABLE ` + name + ` DISABLE TRIGGER USER`, `DELETE FROM ` + name} {
			if _, err := pg.Exec(ctx, statement); err != nil {
				return fmt.Errorf("emptying the table %s: %w", t.Name, err)
			}
		}
	}
	for _, t := range info.Tables {
		if err := t.load(ctx, pg, dir); err != nil {
			return err
		}
	}
	for _, t := range info.Tables {
		name, _ := t.identifiers()
		if _, err := pg.Exec(ctx, `ALTER TABLE `+name+` ENABLE TRIGGER USER`); err != nil {
			return fmt.Errorf("enabling the triggers of %s: %w", t.Name, err)
		}
	}
	for _, s := range info.Sequences {
		_, err := pg.Exec(ctx, `SELECT setval($1::regclass, $2)`, pgx.Identifier{s.Name}.Sanitize(), s.Last)
		if err != nil {
			return fmt.Errorf("setting the sequence %s: %w", s.Name, err)
		}
	}
	return nil
}

func (t *table) load(ctx context.Context, pg *pgx.Conn, dir string) error {
	f, err := os.Open(filepath.Join(dir, t.Name+tableSuffix)) //nolint:gosec // G304: part of the operator's backup
	if err != nil {
		return fmt.Errorf("opening the table %s: %w", t.Name, err)
	}
	defer f.Close()
	name, columns := t.identifiers()
	tag, err := pg.PgConn().CopyFrom(ctx, io.Reader(f), `COPY `+name+` (`+columns+`) FROM STDIN`)
	if err != nil {
		return fmt.Errorf("loading the table %s: %w", t.Name, err)
	}
	if tag.RowsAffected() != t.Rows {
		return fmt.Errorf("the table %s has %d rows instead of %d", t.Name, tag.RowsAffected(), t.Rows)
	}
	return nil
}

// CheckDump checks that each table in a PostgreSQL dump has the number of rows given in the dump's description.
// countLines returns the number of lines in a file. Each line is a row.
func CheckDump(dir string, countLines func(path string) (int64, error)) error {
	info, err := readDump(dir)
	if err != nil {
		return err
	}
	for _, t := range info.Tables {
		n, err := countLines(filepath.Join(dir, t.Name+tableSuffix))
		if err != nil {
			return err
		}
		if n != t.Rows {
			return fmt.Errorf("the table %s has %d rows instead of %d", t.Name, n, t.Rows)
		}
	}
	return nil
}

func readDump(dir string) (dumpInfo, error) {
	var info dumpInfo
	raw, err := os.ReadFile(filepath.Join(dir, dumpSchema)) //nolint:gosec // G304: part of the operator's backup
	if err != nil {
		return info, fmt.Errorf("reading the description of the dump: %w", err)
	}
	if err := json.Unmarshal(raw, &info); err != nil {
		return info, fmt.Errorf("decoding the description of the dump: %w", err)
	}
	return info, nil
}
