// Package postgres gives tests a genuine PostgreSQL of their own, on loopback and in memory where there is room, that
// can be stopped, killed, made to hang and started again without losing what it confirmed.
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

	_ "github.com/jackc/pgx/v5/stdlib" // the driver by which it is asked whether it answers

	"pressroom/internal/testkit"
)

// Server is a PostgreSQL of one test. Its methods are called by one goroutine at a time.
type Server struct {
	tb      testing.TB
	bin     string // the folder of PostgreSQL's programs
	dir     string // holds the data and the log, for as long as the test
	addr    string // the same after every start
	owner   *syscall.Credential
	running *process // nil while it is stopped
}

// Start makes a PostgreSQL and runs it until the test ends. Where its programs are missing the test is skipped, and
// with CI=true it fails. The server keeps fsync and synchronous_commit on, as pressroom demands.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{tb: tb, bin: programs(tb), dir: folder(tb), owner: owner(tb)}
	var err error
	if s.addr, err = testkit.FreeAddr(); err != nil {
		tb.Fatalf("finding a port for PostgreSQL: %v", err)
	}
	if s.owner != nil {
		if err := os.Chown(s.dir, int(s.owner.Uid), int(s.owner.Gid)); err != nil {
			tb.Fatalf("giving PostgreSQL its folder: %v", err)
		}
	}
	made := exec.CommandContext(tb.Context(), filepath.Join(s.bin, "initdb"), "-D", s.data(), "-U", "pressroom", "-A", "trust", "--no-sync")
	made.Dir, made.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.owner}
	if said, err := made.CombinedOutput(); err != nil {
		tb.Fatalf("initdb: %v: %s", err, said)
	}
	tb.Cleanup(s.Kill)
	s.Start()
	return s
}

// DSN is the address of the database that every server has.
func (s *Server) DSN() string { return s.URL("postgres") }

// URL is the address of one of the server's databases.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://pressroom@%s/%s?sslmode=disable", s.addr, database)
}

// Create makes an empty database and gives its address.
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

// Start starts a server that was stopped or killed, at the same address, and returns once it takes connections.
func (s *Server) Start() {
	s.tb.Helper()
	if s.running != nil {
		return
	}
	var err error
	if s.running, err = launch(s); err != nil {
		s.tb.Fatalf("starting PostgreSQL at %s: %v", s.addr, err)
	}
}

// Stop ends the server in order: what is under way is rolled back and every connection ends with a word why.
func (s *Server) Stop() { s.end(syscall.SIGINT) }

// Kill ends the server's processes without a word, as a machine that fails does. What it confirmed is there at the
// next start.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

func (s *Server) end(how syscall.Signal) {
	if s.running != nil {
		s.running.end(how)
		s.running = nil
	}
}

// Pause makes the server hang: connections stand, and can be made, but nothing answers.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume lets a server that hangs go on.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(what syscall.Signal) {
	s.tb.Helper()
	if err := s.running.signal(what); err != nil {
		s.tb.Fatalf("sending PostgreSQL the signal %v: %v", what, err)
	}
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// programs finds the folder of PostgreSQL's programs, where scripts/with-postgres looks, and ends the test where there
// is none.
func programs(tb testing.TB) string {
	tb.Helper()
	installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // the pattern is well formed
	slices.SortFunc(installed, func(a, b string) int { return version(a) - version(b) })
	if len(installed) > 0 {
		return filepath.Dir(installed[len(installed)-1])
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path)
	}
	if os.Getenv("CI") == "true" {
		tb.Fatal("this test needs PostgreSQL's programs; Debian: apt-get install postgresql")
	}
	tb.Skip("skipped, as this test needs PostgreSQL's programs; Debian: apt-get install postgresql")
	return ""
}

func version(program string) int {
	var n int
	_, _ = fmt.Sscanf(program, "/usr/lib/postgresql/%d/", &n) // 0 is the oldest
	return n
}
