// Package redis gives tests a genuine Redis of their own, on loopback and in memory, that can be stopped, started
// again and made to hang.
package redis

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// Server is a Redis of one test.
type Server struct {
	tb       testing.TB
	program  string
	password string // so that no other server on the port is taken for this one
	port     int
	running  *process // nil while it is stopped
}

// Start runs a Redis until the test ends. Where there is none the test is skipped, and with CI=true it fails.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{tb: tb, program: program(tb), password: rand.Text()}
	tb.Cleanup(s.Stop)
	var err error
	for range 20 { // another may take the port between our finding it and the server's
		if s.port, err = freePort(); err != nil {
			tb.Fatalf("finding a port for Redis: %v", err)
		}
		if s.running, err = launch(s.program, s.password, s.port, tb.TempDir()); err == nil {
			return s
		}
	}
	tb.Fatalf("starting Redis: %v", err)
	return nil
}

// URL is the server's address, with its password.
func (s *Server) URL() string { return fmt.Sprintf("redis://:%s@127.0.0.1:%d/0", s.password, s.port) }

// Password is the server's password, which nobody is to log.
func (s *Server) Password() string { return s.password }

// Stop ends the server; it forgets everything.
func (s *Server) Stop() {
	if s.running != nil {
		s.running.kill()
		s.running = nil
	}
}

// Restart starts a stopped or running server anew on the same port.
func (s *Server) Restart() {
	s.tb.Helper()
	s.Stop()
	var err error
	if s.running, err = launch(s.program, s.password, s.port, s.tb.TempDir()); err != nil {
		s.tb.Fatalf("starting Redis again on port %d: %v", s.port, err)
	}
}

// Pause makes the server hang: connections stand, and can be made, but nothing answers.
func (s *Server) Pause() {
	s.tb.Helper()
	if err := s.running.pause(); err != nil {
		s.tb.Fatalf("making Redis hang: %v", err)
	}
}

// Resume lets a server that hangs go on.
func (s *Server) Resume() {
	s.tb.Helper()
	if err := s.running.resume(); err != nil {
		s.tb.Fatalf("letting Redis go on: %v", err)
	}
}

// Tell gives the server a command, in a connection of its own, and returns its answer's first line.
func (s *Server) Tell(command string) string {
	s.tb.Helper()
	answer, err := ask(address(s.port), s.password, command, answerLimit)
	if err != nil {
		s.tb.Fatalf("%s: %v", command, err)
	}
	return answer
}

// program finds the server's program, and ends the test where there is none.
func program(tb testing.TB) string {
	tb.Helper()
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		tb.Fatal("this test needs redis-server or valkey-server; run: make test-tools")
	}
	tb.Skip("skipped, as this test needs redis-server or valkey-server; run: make test-tools")
	return ""
}

func address(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }
