// Package postgres runs a PostgreSQL server for a test, on loopback and in memory if possible. The test can stop, kill,
// pause and restart it without losing committed data.
package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/require"
)

// Server is the PostgreSQL server of one test. Its methods must not be called concurrently.
type Server struct {
	tb      testing.TB
	bin     string // folder of PostgreSQL's programs
	dir     string // folder of the data and the log
	addr    string // stays the same after a restart
	owner   *syscall.Credential
	process *process // nil while stopped
}

// Start runs a new server until the test ends. Without PostgreSQL's programs, the test is skipped, or fails if CI=true.
// The server has fsync and synchronous_commit on, as pressroom requires.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{tb: tb, bin: programs(tb), dir: folder(tb), owner: owner(tb)}
	var err error
	if s.addr, err = testkit.FreeAddr(); err != nil {
		tb.Fatalf("finding a port for PostgreSQL: %v", err)
	}
	if s.owner != nil {
		if err := os.Chown(s.dir, int(s.owner.Uid), int(s.owner.Gid)); err != nil {
			tb.Fatalf("changing the owner of PostgreSQL's folder: %v", err)
		}
	}
	initdb := exec.CommandContext(tb.Context(), filepath.Join(s.bin, "initdb"), "-D", s.data(), "-U", "pressroom",
		"-A", "trust", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.owner}
	if output, err := initdb.CombinedOutput(); err != nil {
		tb.Fatalf("initdb: %v: %s", err, output)
	}
	tb.Cleanup(s.Kill)
	s.Start()
	return s
}

// DSN returns the URL of the default database.
func (s *Server) DSN() string { return s.URL("postgres") }

// URL returns the URL of one of the server's databases.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://pressroom@%s/%s?sslmode=disable", s.addr, database)
}

// Create creates an empty database and returns its URL.
func (s *Server) Create(database string) string {
	s.tb.Helper()
	server, err := sql.Open("pgx", s.DSN())
	if err != nil {
		s.tb.Fatalf("opening PostgreSQL: %v", err)
	}
	defer server.Close()
	if _, err := server.ExecContext(context.Background(), "CREATE DATABASE "+database); err != nil {
		s.tb.Fatalf("creating the database %s: %v", database, err)
	}
	return s.URL(database)
}

// Start restarts a stopped or killed server at the same address, and waits until it accepts connections.
func (s *Server) Start() {
	s.tb.Helper()
	if s.process != nil {
		return
	}
	var err error
	if s.process, err = launch(s); err != nil {
		s.tb.Fatalf("starting PostgreSQL at %s: %v", s.addr, err)
	}
}

// Stop shuts the server down. It rolls back transactions and closes connections with an error.
func (s *Server) Stop() { s.end(syscall.SIGINT) }

// Kill kills the server's processes, like a machine failure. Committed data survives.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

func (s *Server) end(sig syscall.Signal) {
	if s.process != nil {
		s.process.end(sig)
		s.process = nil
	}
}

// Pause makes the server hang: it accepts connections, but does not respond.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume continues a paused server.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.tb.Helper()
	if err := s.process.signal(sig); err != nil {
		s.tb.Fatalf("sending PostgreSQL the signal %v: %v", sig, err)
	}
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// programs returns the folder of PostgreSQL's programs. It looks for them like scripts/with-postgres. Without them, the
// test is skipped, or fails if CI=true.
func programs(tb testing.TB) string {
	tb.Helper()
	installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // The pattern is valid.
	slices.SortFunc(installed, func(a, b string) int { return version(a) - version(b) })
	if len(installed) > 0 {
		return filepath.Dir(installed[len(installed)-1])
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path)
	}
	require.Missing(tb, "PostgreSQL's programs")
	return ""
}

func version(program string) int {
	var n int
	_, _ = fmt.Sscanf(program, "/usr/lib/postgresql/%d/", &n) // 0 is the oldest
	return n
}
