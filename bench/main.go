// Command bench measures how fast pressroom is, beside a floor: what a bare net/http handler does with the same
// driver, the same rows and the same JSON. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // the seeded team's time zone also where the system has none

	"pressroom/bench/floor"
)

// postgresVariable names the variable with the address of a PostgreSQL server whose user may create databases.
const postgresVariable = "PRESSROOM_TEST_POSTGRES"

type options struct {
	quick      bool
	only       string
	out        string
	databases  string
	dir        string
	data       string
	serveFloor string
	source     bool
	years      bool
	keep       bool
}

func main() {
	var o options
	flag.BoolVar(&o.quick, "quick", false, "measure for less than a minute")
	flag.StringVar(&o.only, "only", "", "measure only what matches this `REGEXP`, such as sqlite/list_posts/100k/8")
	flag.StringVar(&o.out, "out", "build/bench.json", "`FILE` for the figures")
	flag.StringVar(&o.databases, "db", "sqlite,postgres", "`DATABASES` to measure on")
	flag.StringVar(&o.dir, "dir", "build/bench", "`DIRECTORY` for the program and the seeded SQLite files, which are kept")
	flag.StringVar(&o.data, "data", "",
		"`DIRECTORY` for the SQLite files that are measured: their writes wait for its disk; in memory where there is room if empty")
	flag.StringVar(&o.serveFloor, "serve-floor", "", "serve the floor on this database `URL`; the bench calls itself so")
	flag.BoolVar(&o.source, "serve-source", false, "serve made-up public figures; the bench calls itself so")
	flag.BoolVar(&o.years, "years", false,
		"measure nothing but how lists, searches and reports fare with years of data; with -quick of few teams")
	flag.BoolVar(&o.keep, "keep", false, "with -years: leave the filled databases to the next run, and use those that are there")
	flag.Parse()
	if err := o.work(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// work does what was asked for until it is done or interrupted.
func (o options) work() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.source {
		return serveSource(ctx)
	}
	if o.serveFloor != "" {
		return serveFloor(ctx, o)
	}
	return run(ctx, o)
}

// serveFloor serves the floor until it is told to stop, and prints its address.
func serveFloor(ctx context.Context, o options) error {
	f, err := floor.Open(ctx, floor.Options{Database: o.serveFloor, PublicURL: publicURL})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(fmt.Errorf("listening: %w", err), f.Close())
	}
	fmt.Println(listener.Addr())
	// connections rest while others are measured
	server := &http.Server{Handler: f.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Hour}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err = server.Serve(listener); errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// run measures what was asked for.
func run(ctx context.Context, o options) error {
	b := &bench{
		scope: fullScope, report: &report{out: os.Stdout}, dir: o.dir, data: o.data, keep: o.keep,
		binary: filepath.Join(o.dir, "pressroom"),
	}
	if o.quick {
		b.scope = quickScope
	}
	if o.only != "" {
		var err error
		if b.only, err = regexp.Compile(o.only); err != nil {
			return fmt.Errorf("-only: %w", err)
		}
	}
	if err := build(ctx, b.binary); err != nil {
		return err
	}
	b.report.head()
	for _, name := range []string{"sqlite", "postgres"} {
		if !slices.Contains(strings.Split(o.databases, ","), name) {
			continue
		}
		if err := b.on(ctx, o, name); err != nil {
			return err
		}
	}
	b.report.conclude()
	return b.report.write(o.out)
}

// on measures on one kind of database, where there is one.
func (b *bench) on(ctx context.Context, o options, name string) error {
	var s storage
	var err error
	switch address := os.Getenv(postgresVariable); {
	case name == "sqlite":
		s, err = newSQLiteFiles(b.dir, b.data, b.binary)
	case address == "":
		fmt.Fprintf(b.report.out, "PostgreSQL is not measured: %s is not set; scripts/with-postgres sets it.\n", postgresVariable)
		return nil
	default:
		s, err = newPostgresServer(address, b.binary)
	}
	if err != nil {
		return err
	}
	measure := b.measure
	if o.years {
		measure = func(ctx context.Context, s storage) error { return b.overYears(ctx, s, b.years[s.name()]) }
	}
	return errors.Join(measure(ctx, s), s.close(context.WithoutCancel(ctx)))
}

// build builds the program as it is shipped.
func build(ctx context.Context, binary string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/pressroom")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building pressroom (in the module's root): %w", err)
	}
	return nil
}
