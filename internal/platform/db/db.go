// Package db opens the database and runs transactions on it. SQLite and PostgreSQL run the same SQL text,
// written with ? for arguments; the few differences stand in dialect.go.
//
// Times are stored as microseconds since 1970 in UTC, 0 where there is none. Booleans are 0 and 1.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/platform/failpoint"
	"pressroom/internal/platform/tracing"
)

// Querier reads: the database itself, or a transaction.
type Querier interface {
	Query(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) *sql.Row
}

// DB is an open database.
type DB struct {
	dialect dialect
	path    string  // of SQLite's file
	read    *sql.DB // SQLite: a pool of readers; PostgreSQL: the same pool as write
	write   *sql.DB // SQLite: the one writer connection
	pulse   *sql.DB // one connection for Ping, which must not stand in line with what it asks about
	now     func() time.Time
	clock   *serverClock // PostgreSQL's, where nobody brings another one
	stmts   statements
	hear    func(context.Context, *Tx, Recorded) error // see Listen; nil for nobody
}

// Options of Open.
type Options struct {
	Now func() time.Time // the clock; where nil PostgreSQL's own, and for SQLite the machine's
	// machine is what the machine's clock is taken to be, in tests.
	machine func() time.Time
	// Connected looks at each new connection to PostgreSQL before it is used, by what runs a statement on it and what
	// reads one row; an error refuses the connection. SQLite's are files, which nobody takes over.
	Connected func(ctx context.Context, exec func(query string, args ...any) error, ask func(query string,
		dest ...any) error) error
}

// errUnknown says what a database's URL has to be.
var errUnknown = errors.New("the database has to be sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME")

// Known refuses the URL of a database of another kind than Open opens.
func Known(url string) error {
	for _, scheme := range []string{"sqlite:", "postgres://", "postgresql://"} {
		if strings.HasPrefix(url, scheme) {
			return nil
		}
	}
	return errUnknown
}

// Open opens a database by its URL: sqlite:PATH or postgres://… . It does not migrate.
func Open(ctx context.Context, url string, opts Options) (*DB, error) {
	d := &DB{now: opts.Now}
	if d.now == nil {
		d.now = time.Now
	}
	path, isSQLite := strings.CutPrefix(url, "sqlite:")
	switch {
	case isSQLite:
		return d, d.openSQLite(ctx, path)
	case strings.HasPrefix(url, "postgres://"), strings.HasPrefix(url, "postgresql://"):
		return d, d.openPostgres(ctx, url, opts)
	}
	return nil, errUnknown
}

// Close closes the database.
func (d *DB) Close() error {
	if d.clock != nil {
		d.clock.close()
	}
	if d.read == d.write {
		return errors.Join(d.pulse.Close(), d.write.Close())
	}
	return errors.Join(d.pulse.Close(), d.read.Close(), d.write.Close())
}

// Postgres tells which of the two databases this is.
func (d *DB) Postgres() bool { return d.dialect.postgres }

// Writer is the pool that the job queue shares with our transactions.
func (d *DB) Writer() *sql.DB { return d.write }

// Pools are the figures of the connections: of SQLite's readers and its one writer, or of PostgreSQL's pool as "all".
func (d *DB) Pools() map[string]sql.DBStats {
	if d.read == d.write {
		return map[string]sql.DBStats{"all": d.write.Stats()}
	}
	return map[string]sql.DBStats{"readers": d.read.Stats(), "writer": d.write.Stats()}
}

// Ping tells whether the database answers, however many wait for the other connections.
func (d *DB) Ping(ctx context.Context) error {
	var one int
	return d.pulse.QueryRowContext(d.dialect.steady(ctx), "SELECT 1").Scan(&one)
}

// Now is the clock of the database's users, in UTC and to the microsecond.
func (d *DB) Now() time.Time { return d.now().UTC().Truncate(time.Microsecond) }

// Query reads rows, inside the context's transaction where there is one.
func (d *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if tx := txOf(ctx); tx != nil {
		return tx.Query(ctx, query, args...)
	}
	ctx = d.dialect.steady(ctx)
	text, stmt := d.forReading(ctx, query)
	if stmt == nil {
		return d.read.QueryContext(ctx, text, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

// QueryRow reads one row, inside the context's transaction where there is one.
func (d *DB) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	if tx := txOf(ctx); tx != nil {
		return tx.QueryRow(ctx, query, args...)
	}
	ctx = d.dialect.steady(ctx)
	text, stmt := d.forReading(ctx, query)
	if stmt == nil {
		return d.read.QueryRowContext(ctx, text, args...)
	}
	return stmt.QueryRowContext(ctx, args...)
}

// Tx is a running transaction.
type Tx struct {
	*sql.Tx
	db  *DB
	now time.Time
}

type txKey struct{}

func txOf(ctx context.Context) *Tx {
	tx, _ := ctx.Value(txKey{}).(*Tx)
	return tx
}

// Now is the time of the whole transaction, so that all it writes agrees.
func (tx *Tx) Now() time.Time { return tx.now }

// Exec changes rows and tells how many.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := tx.exec(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (tx *Tx) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	ctx = tx.db.dialect.steady(ctx)
	text, stmt := tx.db.forWriting(query)
	if stmt == nil {
		return tx.ExecContext(ctx, text, args...)
	}
	return tx.StmtContext(ctx, stmt).ExecContext(ctx, args...)
}

// Query reads rows in the transaction.
func (tx *Tx) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	ctx = tx.db.dialect.steady(ctx)
	text, stmt := tx.db.forWriting(query)
	if stmt == nil {
		return tx.QueryContext(ctx, text, args...)
	}
	return tx.StmtContext(ctx, stmt).QueryContext(ctx, args...)
}

// QueryRow reads one row in the transaction.
func (tx *Tx) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	ctx = tx.db.dialect.steady(ctx)
	text, stmt := tx.db.forWriting(query)
	if stmt == nil {
		return tx.QueryRowContext(ctx, text, args...)
	}
	return tx.StmtContext(ctx, stmt).QueryRowContext(ctx, args...)
}

// InTx runs a function in a transaction and rolls back when it fails. Inside the context's transaction it
// joins that one, so that services compose. The name says in traces and crash tests what is written.
func (d *DB) InTx(ctx context.Context, name string, work func(context.Context, *Tx) error) error {
	if tx := txOf(ctx); tx != nil {
		return work(ctx, tx)
	}
	for try := 1; ; try++ {
		within, span := tracing.Start(ctx, name)
		err := d.writeOnce(within, name, work)
		span.End(err)
		if err == nil || try == maxTries || ctx.Err() != nil || !d.dialect.conflict(err) && !Blocked(err) {
			return err
		}
	}
}

// maxTries bounds how often a transaction is run again that another one got in the way of, by what it changed or by
// not ending in time.
const maxTries = 4

func (d *DB) writeOnce(ctx context.Context, name string, work func(context.Context, *Tx) error) error {
	// Waiting for the connection ends with the context; what is begun is steady.
	conn, err := d.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("beginning %s: %w", name, err)
	}
	defer func() { _ = conn.Close() }() // after the one below it does nothing
	raw, err := conn.BeginTx(d.dialect.steady(ctx), nil)
	if err != nil {
		return fmt.Errorf("beginning %s: %w", name, err)
	}
	tx := &Tx{Tx: raw, db: d, now: d.Now()}
	defer func() { _ = raw.Rollback() }() // after a commit it does nothing
	if err := work(context.WithValue(ctx, txKey{}, tx), tx); err != nil {
		return err
	}
	failpoint.Point("before " + name)
	if err := raw.Commit(); err != nil {
		return fmt.Errorf("committing %s: %w", name, err)
	}
	failpoint.Point("after " + name)
	_ = conn.Close() // given back before the pool is asked for more
	d.prepareWanted(ctx)
	return nil
}

// Micros is how a time is stored.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time reads a stored time.
func Time(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// SomeTeam is the mark of a team's id in a query for a page. PostgreSQL does not look into it and so plans for a team
// of the usual size, once for each connection; seeing the id of a team that has more than others, it plans anew at
// each use, which takes longer than the page.
const SomeTeam = "(SELECT CAST(? AS BIGINT))"

// Page ends a query for a page of so many rows and one more, which tells that there are others; it may give a few more
// than that. The number stands in the text: PostgreSQL plans a query anew at each use where it cannot know how few
// rows are wanted. There are few such texts, as each is kept.
func Page(rows int) string {
	most := 20
	if rows > most {
		most = (rows + 49) / 50 * 50
	}
	return " LIMIT " + strconv.Itoa(most+1)
}

// Flag returns how a truth is stored: 1 or 0.
func Flag(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

// Marks is a list of n argument marks for IN (…).
func Marks(n int) string {
	return strings.TrimSuffix(strings.Repeat("?,", n), ",")
}

// Args are the arguments of a query: one, and others behind it for IN (…).
func Args[T any](first any, rest []T) []any {
	out := make([]any, 0, 1+len(rest))
	out = append(out, first)
	for _, one := range rest {
		out = append(out, one)
	}
	return out
}

// Home is which of some teams an item is of: the query's end, from the table on, names it by an id. It is sql.ErrNoRows
// where the item is of none of them.
func Home(ctx context.Context, q Querier, item string, id any, teams []int64) (int64, error) {
	var home int64
	err := q.QueryRow(ctx, `SELECT team_id FROM `+item+` AND team_id IN (`+Marks(len(teams))+`)`, Args(id, teams)...).
		Scan(&home)
	if err != nil {
		return 0, fmt.Errorf("looking for the team of %s: %w", item, err)
	}
	return home, nil
}

// All scans every row of a query.
func All[T any](
	ctx context.Context, q Querier, scan func(*sql.Rows, *T) error, query string, args ...any,
) ([]T, error) {
	return AllOf(ctx, q, 0, scan, query, args...)
}

// AllOf is All where about so many rows are expected.
func AllOf[T any](
	ctx context.Context, q Querier, expected int, scan func(*sql.Rows, *T) error, query string, args ...any,
) ([]T, error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := make([]T, 0, expected)
	var item, blank T // one variable for all rows, as it moves to the heap
	for rows.Next() {
		item = blank
		if err := scan(rows, &item); err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, rows.Err()
}
