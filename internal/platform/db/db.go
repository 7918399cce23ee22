// Package db opens the database and runs transactions. The same SQL text runs on SQLite and PostgreSQL, with ? as the
// placeholder for arguments. The differences are in dialect.go.
//
// Times are stored as Unix microseconds, or 0 for no time. Booleans are stored as 0 and 1.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/platform/failpoint"
	"pressroom.example/pressroom/internal/platform/tracing"
)

// Querier runs queries on the database or in a transaction.
type Querier interface {
	Query(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRow(ctx context.Context, query string, args ...any) *sql.Row
}

// DB is an open database.
type DB struct {
	dialect dialect
	path    string  // path of the SQLite file; empty for PostgreSQL
	read    *sql.DB // SQLite: a pool of readers; PostgreSQL: the same pool as write
	write   *sql.DB // SQLite: the only writer connection
	prober  *sql.DB // a separate connection for Ping and for querying the time
	now     func() time.Time
	clock   *serverClock // PostgreSQL's clock; nil with SQLite or if Options.Now is set
	stmts   statements
	onEvent func(context.Context, *Tx, Event) error // set by OnEvent; may be nil
}

// Options are the options of Open.
type Options struct {
	Now     func() time.Time // the clock; by default PostgreSQL's clock or, with SQLite, the machine's clock
	machine func() time.Time // replaces the machine's clock in tests
	// Connected checks each new connection to PostgreSQL before it is used. Its argument exec runs a statement, and
	// queryRow reads one row. If Connected returns an error, the connection is closed. It is not used with SQLite.
	Connected func(ctx context.Context, exec func(query string, args ...any) error,
		queryRow func(query string, dest ...any) error) error
}

var errUnknown = errors.New("the database URL must be sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME")

// CheckURL returns an error if Open does not support the URL's scheme.
func CheckURL(url string) error {
	for _, scheme := range []string{"sqlite:", "postgres://", "postgresql://"} {
		if strings.HasPrefix(url, scheme) {
			return nil
		}
	}
	return errUnknown
}

// Open opens a database by its URL, sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME. It does not migrate.
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
		return errors.Join(d.prober.Close(), d.write.Close())
	}
	return errors.Join(d.prober.Close(), d.read.Close(), d.write.Close())
}

// Postgres reports whether the database is PostgreSQL. Otherwise, it is SQLite.
func (d *DB) Postgres() bool { return d.dialect.postgres }

// Writer returns the pool for writing. The job queue also uses this pool.
func (d *DB) Writer() *sql.DB { return d.write }

// Pools returns statistics for the connection pools by name: "readers" and "writer" with SQLite, "all" with PostgreSQL.
func (d *DB) Pools() map[string]sql.DBStats {
	if d.read == d.write {
		return map[string]sql.DBStats{"all": d.write.Stats()}
	}
	return map[string]sql.DBStats{"readers": d.read.Stats(), "writer": d.write.Stats()}
}

// Ping checks that the database responds. It uses a separate connection, so it does not wait for a busy connection.
func (d *DB) Ping(ctx context.Context) error {
	var one int
	return d.prober.QueryRowContext(d.dialect.statementContext(ctx), "SELECT 1").Scan(&one)
}

// Now returns the current time in UTC, truncated to microseconds.
func (d *DB) Now() time.Time { return d.now().UTC().Truncate(time.Microsecond) }

// Query reads rows outside of any transaction.
func (d *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rejectInTx(ctx)
	ctx = d.dialect.statementContext(ctx)
	text, stmt := d.forReading(ctx, query)
	if stmt == nil {
		return d.read.QueryContext(ctx, text, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

// QueryRow reads one row outside of any transaction.
func (d *DB) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	rejectInTx(ctx)
	ctx = d.dialect.statementContext(ctx)
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

type inTxKey struct{} // marks the context of a function that InTx runs

// rejectInTx panics if ctx belongs to a running transaction. Code in a transaction must use the transaction's Tx. A
// second transaction would wait forever for the first, and a read outside of the transaction would not see its writes.
func rejectInTx(ctx context.Context) {
	if name, ok := ctx.Value(inTxKey{}).(string); ok {
		panic("db: used inside the transaction " + name + "; use its Tx")
	}
}

// Now returns the time at which the transaction began. All calls in a transaction return the same time.
func (tx *Tx) Now() time.Time { return tx.now }

// Exec runs a statement and returns the number of rows that it changed.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := tx.exec(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (tx *Tx) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	ctx = tx.db.dialect.statementContext(ctx)
	text, stmt := tx.db.forWriting(query)
	if stmt == nil {
		return tx.ExecContext(ctx, text, args...)
	}
	return tx.StmtContext(ctx, stmt).ExecContext(ctx, args...)
}

// Query reads rows in the transaction.
func (tx *Tx) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	ctx = tx.db.dialect.statementContext(ctx)
	text, stmt := tx.db.forWriting(query)
	if stmt == nil {
		return tx.QueryContext(ctx, text, args...)
	}
	return tx.StmtContext(ctx, stmt).QueryContext(ctx, args...)
}

// QueryRow reads one row in the transaction.
func (tx *Tx) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	ctx = tx.db.dialect.statementContext(ctx)
	text, stmt := tx.db.forWriting(query)
	if stmt == nil {
		return tx.QueryRowContext(ctx, text, args...)
	}
	return tx.StmtContext(ctx, stmt).QueryRowContext(ctx, args...)
}

// InTx runs fn in a transaction, and rolls the transaction back if fn returns an error. It runs fn again if the
// transaction conflicts with another transaction or times out waiting for a lock. The name is used in traces and
// failpoints. InTx panics if it is called inside another transaction.
func (d *DB) InTx(ctx context.Context, name string, fn func(context.Context, *Tx) error) error {
	rejectInTx(ctx)
	for try := 1; ; try++ {
		within, span := tracing.Start(ctx, name)
		err := d.writeOnce(within, name, fn)
		span.End(err)
		if err == nil || try == maxTries || ctx.Err() != nil || !d.dialect.isConflict(err) && !IsLockTimeout(err) {
			return err
		}
	}
}

// maxTries is the maximum number of times that a transaction runs if it conflicts with other transactions or times out
// waiting for locks.
const maxTries = 4

func (d *DB) writeOnce(ctx context.Context, name string, fn func(context.Context, *Tx) error) error {
	// Canceling ctx ends the wait for a connection. It does not cancel the transaction (see statementContext).
	conn, err := d.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("beginning %s: %w", name, err)
	}
	defer func() { _ = conn.Close() }() // does nothing if the connection was already closed
	raw, err := conn.BeginTx(d.dialect.statementContext(ctx), nil)
	if err != nil {
		return fmt.Errorf("beginning %s: %w", name, err)
	}
	tx := &Tx{Tx: raw, db: d, now: d.Now()}
	defer func() { _ = raw.Rollback() }() // does nothing after a commit
	if err := fn(context.WithValue(ctx, inTxKey{}, name), tx); err != nil {
		return err
	}
	failpoint.Point("before " + name)
	if err := raw.Commit(); err != nil {
		return fmt.Errorf("committing %s: %w", name, err)
	}
	failpoint.Point("after " + name)
	_ = conn.Close() // releases the connection before another one is requested
	d.preparePending(ctx)
	return nil
}

// Micros returns the stored form of a time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time returns a time from its stored form.
func Time(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// TeamPlaceholder is the placeholder for a team's ID in a query for a page. It hides the value from PostgreSQL's
// planner, which then uses one generic plan per connection. If the planner knew the value, it would create a new plan
// for each query of a large team, and planning takes longer than the query itself.
const TeamPlaceholder = "(SELECT CAST(? AS BIGINT))"

// LimitClause returns the LIMIT clause of a query for a page. The limit allows at least one additional row, whose
// presence shows that there is another page. The limit is part of the query text, because PostgreSQL would otherwise
// plan the query each time. It is rounded up to keep the number of prepared statements small.
func LimitClause(rows int) string {
	limit := 20
	if rows > limit {
		limit = (rows + 49) / 50 * 50
	}
	return " LIMIT " + strconv.Itoa(limit+1)
}

// BoolToInt returns the stored form of a boolean.
func BoolToInt(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

// Placeholders returns n placeholders, separated by commas, for an IN list.
func Placeholders(n int) string {
	return strings.TrimSuffix(strings.Repeat("?,", n), ",")
}

// Args returns the arguments of a query: first, then the elements of rest for an IN list.
func Args[T any](first any, rest []T) []any {
	out := make([]any, 0, 1+len(rest))
	out = append(out, first)
	for _, arg := range rest {
		out = append(out, arg)
	}
	return out
}

// OwningTeam returns the ID of the team that owns an item, if that team is one of teams. item is the part of the query
// after FROM, with one placeholder for the item's ID. If none of the teams owns the item, the error wraps
// sql.ErrNoRows.
func OwningTeam(ctx context.Context, q Querier, item string, id any, teams []int64) (int64, error) {
	var team int64
	err := q.QueryRow(ctx, `SELECT team_id FROM `+item+` AND team_id IN (`+Placeholders(len(teams))+`)`, Args(id, teams)...).
		Scan(&team)
	if err != nil {
		return 0, fmt.Errorf("reading the team of %s: %w", item, err)
	}
	return team, nil
}

// All returns all rows of a query, each scanned by scan.
func All[T any](
	ctx context.Context, q Querier, scan func(*sql.Rows, *T) error, query string, args ...any,
) ([]T, error) {
	return AllSized(ctx, q, 0, scan, query, args...)
}

// AllSized is like All, but it allocates memory for the expected number of rows in advance.
func AllSized[T any](
	ctx context.Context, q Querier, capacity int, scan func(*sql.Rows, *T) error, query string, args ...any,
) ([]T, error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := make([]T, 0, capacity)
	var item, blank T // one variable for all rows, because it is allocated on the heap
	for rows.Next() {
		item = blank
		if err := scan(rows, &item); err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, rows.Err()
}
