// Package redis runs a Redis server for a test, on loopback and in memory. The test can stop, restart and pause it.
package redis

import (
	"crypto/rand"
	"fmt"
	"testing"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/require"
)

// Server is the Redis server of one test.
type Server struct {
	tb       testing.TB
	program  string
	password string   // random, to detect another server at the address
	addr     string   // stays the same after a restart
	process  *process // nil while stopped
}

// Start runs a server until the test ends. Without Redis, the test is skipped, or fails if CI=true.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{tb: tb, program: require.Program(tb, "redis-server", "valkey-server"), password: rand.Text()}
	tb.Cleanup(s.Stop)
	var err error
	if s.addr, err = testkit.FreeAddr(); err != nil {
		tb.Fatalf("finding an address for Redis: %v", err)
	}
	s.Restart()
	return s
}

// URL returns the server's URL with the password.
func (s *Server) URL() string { return fmt.Sprintf("redis://:%s@%s/0", s.password, s.addr) }

// Password returns the server's password, which must not be logged.
func (s *Server) Password() string { return s.password }

// Stop stops the server. Its data is lost.
func (s *Server) Stop() {
	if s.process != nil {
		s.process.kill()
		s.process = nil
	}
}

// Restart stops the server, if it is running, and starts it at the same address.
func (s *Server) Restart() {
	s.tb.Helper()
	s.Stop()
	var err error
	if s.process, err = launch(s.program, s.password, s.addr, s.tb.TempDir()); err != nil {
		s.tb.Fatalf("starting Redis at %s: %v", s.addr, err)
	}
}

// Pause makes the server hang: it accepts connections, but does not respond.
func (s *Server) Pause() {
	s.tb.Helper()
	if err := s.process.pause(); err != nil {
		s.tb.Fatalf("pausing Redis: %v", err)
	}
}

// Resume continues a paused server.
func (s *Server) Resume() {
	s.tb.Helper()
	if err := s.process.resume(); err != nil {
		s.tb.Fatalf("resuming Redis: %v", err)
	}
}

// Do sends a command on a new connection and returns the first line of the response.
func (s *Server) Do(command string) string {
	s.tb.Helper()
	answer, err := sendCommand(s.addr, s.password, command, responseTimeout)
	if err != nil {
		s.tb.Fatalf("%s: %v", command, err)
	}
	return answer
}
