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

	"pressroom/internal/platform/sqlite"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

type dialect struct{ postgres bool }

// bind writes the argument marks as the database wants them. No text of ours holds a ? that is not one.
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

// steady takes the cancelling off a context for SQLite: its statements take microseconds, and watching for the
// end of each costs more than most of them. PostgreSQL's go over a network and stay cancellable.
func (d dialect) steady(ctx context.Context) context.Context {
	if d.postgres {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// conflict tells whether a transaction failed only because another ran beside it.
func (d dialect) conflict(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// Blocked tells whether a statement gave up waiting for another transaction: for its row, or with SQLite for
// another process's turn to write.
func Blocked(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "55P03" || sqlite.IsBusy(err)
}

// ForUpdate ends a SELECT whose rows the transaction is going to change. SQLite has one writer and needs none.
func (d *DB) ForUpdate() string {
	if d.dialect.postgres {
		return " FOR NO KEY UPDATE"
	}
	return ""
}

func (d *DB) openSQLite(ctx context.Context, path string) error {
	// Made here so that nobody else on the machine can read it; SQLite gives its other files the same mode.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the operator says which file
	if err != nil {
		return fmt.Errorf("opening the SQLite file: %w", err)
	}
	d.path = path
	if err := file.Close(); err != nil {
		return fmt.Errorf("making the SQLite file: %w", err)
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
	if d.pulse, err = sql.Open(sqlite.Driver, sqlite.DSN(path, false)); err != nil {
		return errors.Join(fmt.Errorf("opening %s: %w", path, err), d.read.Close(), d.write.Close())
	}
	d.pulse.SetMaxOpenConns(1)
	return nil
}

const (
	postgresConns = 4 // for each core: more wait for one another in the server
	// longest wait for another transaction's row before the caller is told to come again
	setLockTimeout = "SET lock_timeout = '5s'"
	// postgresFarPage is what a page costs that lies elsewhere, of one that comes next: PostgreSQL's own 4 is a
	// turning disk's. With it a page of posts reads all accounts of the service to name forty of them.
	postgresFarPage = "1.1"
)

func (d *DB) openPostgres(ctx context.Context, url string, opts Options) error {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return errors.New("the PostgreSQL address cannot be read; it has the form " +
			"postgres://USER:PASSWORD@HOST:PORT/NAME")
	}
	cfg.RuntimeParams["application_name"] = "pressroom"
	_, said := cfg.RuntimeParams["random_page_cost"]
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectWithin
	}
	d.dialect.postgres = true
	d.write = stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(opts.settle(!said)))
	conns := max(8, postgresConns*runtime.GOMAXPROCS(0))
	d.write.SetMaxOpenConns(conns)
	d.write.SetMaxIdleConns(conns)
	d.read = d.write
	if err := d.refuseForgetful(ctx); err != nil {
		return errors.Join(err, d.write.Close())
	}
	d.pulse = stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(opts.settle(!said)))
	d.pulse.SetMaxOpenConns(1)
	return d.followClock(ctx, opts)
}

// followClock goes by the server's clock unless somebody brings another one.
func (d *DB) followClock(ctx context.Context, opts Options) error {
	if opts.Now != nil {
		return nil
	}
	clock := newServerClock(opts.machineClock())
	if err := clock.first(ctx, d.pulse); err != nil {
		return errors.Join(err, d.pulse.Close(), d.write.Close())
	}
	clock.follow(d.pulse)
	d.clock, d.now = clock, clock.now
	return nil
}

// settle sets a new connection up, by statements: poolers in between refuse what they do not know as it begins.
func (o Options) settle(farPage bool) func(ctx context.Context, conn *pgx.Conn) error {
	setting := setLockTimeout
	if farPage {
		setting += "; SET random_page_cost = " + postgresFarPage
	}
	return func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, setting, pgx.QueryExecModeSimpleProtocol); err != nil {
			_ = conn.Close(ctx)
			return fmt.Errorf("setting a connection up: %w", err)
		}
		return o.look(ctx, conn)
	}
}

// look shows a new connection to whoever wants to look at it.
func (o Options) look(ctx context.Context, conn *pgx.Conn) error {
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
		_ = conn.Close(ctx) // the driver leaves what is refused open, and a server has only so many
	}
	return err
}

// refuseForgetful keeps off a PostgreSQL that may lose what it acknowledged: a post could go out twice.
func (d *DB) refuseForgetful(ctx context.Context) error {
	for _, setting := range []string{"fsync", "synchronous_commit"} {
		var value string
		if err := d.write.QueryRowContext(ctx, "SELECT current_setting($1)", setting).Scan(&value); err != nil {
			return fmt.Errorf("connecting to PostgreSQL: %w", err)
		}
		if value == "off" {
			return fmt.Errorf("PostgreSQL runs with %s = off and may forget what it confirmed, so that a post could "+
				"go out twice; set %s = on", setting, setting)
		}
	}
	return nil
}
