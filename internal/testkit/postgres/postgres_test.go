package postgres_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/postgres"
)

// TestServer checks that a server keeps its address and committed data when stopped or killed.
func TestServer(t *testing.T) {
	t.Parallel()
	s := postgres.Start(t)
	d, err := sql.Open("pgx", s.Create("harbour"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	exec(t, d, "CREATE TABLE boats (name text)")
	for name, end := range map[string]func(){"stopped": s.Stop, "killed": s.Kill, "killed while it hangs": func() { s.Pause(); s.Kill() }} {
		exec(t, d, "INSERT INTO boats VALUES ($1)", name)
		end()
		if err := d.PingContext(t.Context()); err == nil {
			t.Errorf("%s: the server still responds", name)
		}
		s.Start()
		if n := count(t, d, name); n != 1 {
			t.Errorf("%s: %d committed rows, want 1", name, n)
		}
	}
	s.Stop()
	s.Stop()
	s.Kill()
}

func TestPause(t *testing.T) {
	t.Parallel()
	s := postgres.Start(t)
	d, err := sql.Open("pgx", s.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	exec(t, d, "CREATE TABLE boats (name text)")
	s.Pause()
	shortCtx, done := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer done()
	if _, err := d.ExecContext(shortCtx, "INSERT INTO boats VALUES ('Ada')"); err == nil {
		t.Error("the paused server responds")
	}
	s.Resume()
	exec(t, d, "INSERT INTO boats VALUES ('Ben')")
}

// exec runs a statement, twice if the pool still has a connection of the stopped server.
func exec(t *testing.T, d *sql.DB, statement string, args ...any) {
	t.Helper()
	_, err := d.ExecContext(t.Context(), statement, args...)
	if err != nil {
		_, err = d.ExecContext(t.Context(), statement, args...)
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func count(t *testing.T, d *sql.DB, name string) int {
	t.Helper()
	var n int
	if err := d.QueryRowContext(t.Context(), "SELECT count(*) FROM boats WHERE name = $1", name).Scan(&n); err != nil {
		t.Fatalf("counting: %v", err)
	}
	return n
}
