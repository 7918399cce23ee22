// Command bench measures how fast pressroom is and compares it with a baseline. The baseline is called the floor: it is
// a bare net/http handler that uses the same driver, rows and JSON. See README.md.
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
	"syscall"
	"time"
	_ "time/tzdata" // for the seeded team's time zone, on systems that have no time zone database

	"pressroom.example/pressroom/bench/floor"
)

// postgresVariable is the environment variable with the URL of a PostgreSQL server whose user may create databases.
const postgresVariable = "PRESSROOM_TEST_POSTGRES"

// workDir is the directory for the program and the seeded SQLite files. Later runs reuse it.
const workDir = "build/bench"

type options struct {
	quick, yearsOnly bool
	out              string
	serveFloor       string
	serveMetrics     bool
}

func main() {
	var o options
	flag.BoolVar(&o.quick, "quick", false, "finish in less than a minute")
	flag.BoolVar(&o.yearsOnly, "years", false, "measure only lists, searches and reports on years of data")
	flag.StringVar(&o.out, "out", "build/bench.json", "`FILE` for the results")
	flag.StringVar(&o.serveFloor, "serve-floor", "", "internal: serve the floor with the database at `URL`")
	flag.BoolVar(&o.serveMetrics, "serve-figures", false, "internal: serve synthetic public metrics")
	flag.Parse()
	if err := o.dispatch(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// dispatch runs one of the internal servers or the benchmarks, until they finish or the program is interrupted.
func (o options) dispatch() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.serveMetrics {
		return serveMetrics(ctx)
	}
	if o.serveFloor != "" {
		return serveFloor(ctx, o)
	}
	return run(ctx, o)
}

// serveFloor prints the address of the floor, and serves it until the context ends.
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
	// Connections are idle while other servers are measured.
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

// run runs the benchmarks on each kind of database and writes the report.
func run(ctx context.Context, o options) error {
	b := &bench{
		scope: fullScope, report: &report{out: os.Stdout}, binary: filepath.Join(workDir, "pressroom"),
	}
	if o.quick {
		b.scope = quickScope
	}
	if err := build(ctx, b.binary); err != nil {
		return err
	}
	b.report.printHeader()
	for _, name := range []string{"sqlite", "postgres"} {
		if err := b.runOn(ctx, o, name); err != nil {
			return err
		}
	}
	b.report.printSummary()
	return b.report.write(o.out)
}

// runOn runs the benchmarks on one kind of database, if it is available.
func (b *bench) runOn(ctx context.Context, o options, name string) error {
	var s storage
	var err error
	switch address := os.Getenv(postgresVariable); {
	case name == "sqlite":
		s, err = newSQLiteFiles(b.binary)
	case address == "":
		fmt.Fprintf(b.report.out, "PostgreSQL is not measured, because %s is not set. To set it, use scripts/with-postgres.\n",
			postgresVariable)
		return nil
	default:
		s, err = newPostgresServer(address, b.binary)
	}
	if err != nil {
		return err
	}
	measure := b.measure
	if o.yearsOnly {
		measure = func(ctx context.Context, s storage) error {
			return withTestbed(func(tb *testbed) error { return b.measureYears(ctx, tb, s) })
		}
	}
	return errors.Join(measure(ctx, s), s.close(context.WithoutCancel(ctx)))
}

// build builds pressroom in the same way as a release.
func build(ctx context.Context, binary string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/pressroom")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building pressroom (run bench in the root of the module): %w", err)
	}
	return nil
}
