package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/platform/sqlite"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

type dialect struct{ postgres bool }

// bind returns the query with the database's placeholders. Queries must contain ? only as a placeholder.
func (d dialect) bind(query string) string {
	if !d.postgres {
		return query
	}
	var out strings.Builder
	n := 0
	for part := range strings.SplitSeq(query, "?") {
		if n > 0 {
			out.WriteString("$" + strconv.Itoa(n))
		}
		out.WriteString(part)
		n++
	}
	return out.String()
}

// statementContext returns a context for a statement. For SQLite, the context cannot be canceled: statements take
// microseconds, and watching for cancellation usually costs more than the statement itself.
func (d dialect) statementContext(ctx context.Context) context.Context {
	if d.postgres {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// isConflict reports whether a transaction failed because of a concurrent transaction: a serialization failure or a
// deadlock.
func (d dialect) isConflict(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// IsLockTimeout reports whether a statement timed out waiting for a lock that another transaction holds.
func IsLockTimeout(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "55P03" || sqlite.IsBusy(err)
}

// ForUpdate returns the clause that locks the rows of a SELECT. It is empty for SQLite, which has one writer.
func (d *DB) ForUpdate() string {
	if d.dialect.postgres {
		return " FOR NO KEY UPDATE"
	}
	return ""
}

// ForUpdate returns the same clause as DB.ForUpdate.
func (tx *Tx) ForUpdate() string { return tx.db.ForUpdate() }

// SkipLocked returns the clause that locks the rows of a SELECT and skips rows that other transactions have locked. It
// is empty for SQLite, which has one writer.
func (d *DB) SkipLocked() string {
	if d.dialect.postgres {
		return d.ForUpdate() + " SKIP LOCKED"
	}
	return ""
}

// ForKeyShare returns the clause that prevents the rows of a SELECT from being deleted. Rows deleted by a concurrent
// transaction are skipped. It is empty for SQLite, which has one writer.
func (d *DB) ForKeyShare() string {
	if d.dialect.postgres {
		return " FOR KEY SHARE"
	}
	return ""
}

func (d *DB) openSQLite(ctx context.Context, path string) error {
	// Create the file such that only this user can read it. SQLite creates its other files with the same mode.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the operator chooses the file
	if err != nil {
		return fmt.Errorf("opening the SQLite file: %w", err)
	}
	d.path = path
	if err := file.Close(); err != nil {
		return fmt.Errorf("creating the SQLite file: %w", err)
	}
	if d.write, err = sql.Open(sqlite.Driver, sqlite.DSN(path, true)); err != nil {
		return fmt.Errorf("opening %s: %w", path, err)
	}
	d.write.SetMaxOpenConns(1)
	if err := d.write.PingContext(ctx); err != nil {
		return errors.Join(fmt.Errorf("opening the SQLite file for writing: %w", err), d.write.Close())
	}
	if d.read, err = sql.Open(sqlite.Driver, sqlite.DSN(path, false)); err != nil {
		return errors.Join(fmt.Errorf("opening %s: %w", path, err), d.write.Close())
	}
	readers := max(4, runtime.GOMAXPROCS(0)*2)
	d.read.SetMaxOpenConns(readers)
	d.read.SetMaxIdleConns(readers)
	if d.prober, err = sql.Open(sqlite.Driver, sqlite.DSN(path, false)); err != nil {
		return errors.Join(fmt.Errorf("opening %s: %w", path, err), d.read.Close(), d.write.Close())
	}
	d.prober.SetMaxOpenConns(1)
	return nil
}

const (
	connsPerCore   = 4 // more connections would only compete for the server's processors
	minConns       = 4 // with fewer connections, a slow query could block a node
	setLockTimeout = "SET lock_timeout = '5s'"
	// randomPageCost is suitable for solid-state disks. With PostgreSQL's default of 4, the query for a page of posts
	// would scan all accounts of the service to look up forty of them.
	randomPageCost = "1.1"
)

func (d *DB) openPostgres(ctx context.Context, url string, opts Options) error {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return errors.New("the PostgreSQL URL cannot be parsed; it must be postgres://USER:PASSWORD@HOST:PORT/NAME")
	}
	conns, err := maxConns(cfg)
	if err != nil {
		return err
	}
	cfg.RuntimeParams["application_name"] = "pressroom"
	_, custom := cfg.RuntimeParams["random_page_cost"]
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	d.dialect.postgres = true
	d.write = stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(opts.configure(!custom)))
	d.write.SetMaxOpenConns(conns)
	d.write.SetMaxIdleConns(conns)
	d.read = d.write
	if err := d.requireDurability(ctx); err != nil {
		return errors.Join(err, d.write.Close())
	}
	d.prober = stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(opts.configure(!custom)))
	d.prober.SetMaxOpenConns(1)
	return d.startClock(ctx, opts)
}

// maxConns removes the parameter pool_max_conns from a configuration and returns its value, which is the maximum size
// of the pool. The default is [connsPerCore] connections per core, but at least 8.
func maxConns(cfg *pgx.ConnConfig) (int, error) {
	const param = "pool_max_conns" // same name as in pgxpool
	text, ok := cfg.RuntimeParams[param]
	if !ok {
		return max(8, connsPerCore*runtime.GOMAXPROCS(0)), nil
	}
	delete(cfg.RuntimeParams, param)
	conns, err := strconv.Atoi(text)
	if err != nil || conns < minConns {
		return 0, fmt.Errorf("%s in the PostgreSQL URL must be a number, at least %d", param, minConns)
	}
	return conns, nil
}

// startClock uses the server's clock unless Options.Now is set.
func (d *DB) startClock(ctx context.Context, opts Options) error {
	if opts.Now != nil {
		return nil
	}
	clock := newServerClock(opts.machineClock())
	if err := clock.queryFirst(ctx, d.prober); err != nil {
		return errors.Join(err, d.prober.Close(), d.write.Close())
	}
	clock.start(d.prober)
	d.clock, d.now = clock, clock.now
	return nil
}

// configure returns a function that configures a new connection. It configures the connection with statements, because
// connection poolers reject unknown startup parameters.
func (o Options) configure(pageCost bool) func(ctx context.Context, conn *pgx.Conn) error {
	settings := setLockTimeout
	if pageCost {
		settings += "; SET random_page_cost = " + randomPageCost
	}
	return func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, settings, pgx.QueryExecModeSimpleProtocol); err != nil {
			_ = conn.Close(ctx)
			return fmt.Errorf("configuring a connection: %w", err)
		}
		return o.check(ctx, conn)
	}
}

// check calls Connected for a new connection.
func (o Options) check(ctx context.Context, conn *pgx.Conn) error {
	if o.Connected == nil {
		return nil
	}
	exec := func(query string, args ...any) error {
		_, err := conn.Exec(ctx, query, args...)
		return err
	}
	err := o.Connected(ctx, exec, func(query string, dest ...any) error {
		return conn.QueryRow(ctx, query).Scan(dest...)
	})
	if err != nil {
		_ = conn.Close(ctx) // the driver leaves a rejected connection open
	}
	return err
}

// requireDurability returns an error if PostgreSQL may lose committed transactions, because posts could then be
// published twice.
func (d *DB) requireDurability(ctx context.Context) error {
	for _, setting := range []string{"fsync", "synchronous_commit"} {
		var value string
		if err := d.write.QueryRowContext(ctx, "SELECT current_setting($1)", setting).Scan(&value); err != nil {
			return fmt.Errorf("connecting to PostgreSQL: %w", err)
		}
		if value == "off" {
			return fmt.Errorf("PostgreSQL may lose committed transactions with %s = off, so a post could be published "+
				"twice: set %s = on", setting, setting)
		}
	}
	return nil
}
