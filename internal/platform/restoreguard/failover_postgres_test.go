package restoreguard_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/restoreguard"
	"pressroom.example/pressroom/internal/testkit"
)

// TestFailoverHolds checks that the statement for a failover works in PostgreSQL, and that a second call does not begin
// another hold.
func TestFailoverHolds(t *testing.T) {
	t.Parallel()
	if os.Getenv(testkit.PostgresVariable) == "" {
		t.Skip("needs PostgreSQL: scripts/with-postgres")
	}
	url := testkit.Postgres(t)
	s, d := open(t, url)
	conn := testkit.OpenPostgres(t, url)
	f := restoreguard.NewFailoverCheck(false)
	for n := range 3 {
		exec := func(query string, args ...any) error {
			_, err := conn.ExecContext(t.Context(), query, args...)
			return err
		}
		queryRow := func(_ string, dest ...any) error {
			_, err := fmt.Sscan(fmt.Sprintf("%08X", 1+n), dest[0])
			return err
		}
		if err := f.CheckConnection(t.Context(), exec, queryRow); err != nil {
			t.Fatal(err)
		}
		state, err := s.State(t.Context())
		if err != nil || state.IsHeld() != (n > 0) || n > 0 && state.Cause != restoreguard.FailedOver {
			t.Errorf("after %d failovers: %+v %v", n, state, err)
		}
	}
	var id int64
	if err := d.QueryRow(t.Context(), `SELECT MAX(id) FROM events`).Scan(&id); err != nil || id < time.Now().Add(-time.Hour).UnixMilli() {
		t.Errorf("the event has the id %d, %v", id, err)
	}
	var events, version int
	if err := d.QueryRow(t.Context(),
		`SELECT (SELECT COUNT(*) FROM events WHERE kind = 'service.held'), (SELECT version FROM access_version)`).
		Scan(&events, &version); err != nil || events != 1 || version != 2 {
		t.Errorf("%d events, access %d, %v", events, version, err)
	}
}

// TestFailoverDuringManualHold checks that a failover replaces a manual hold.
func TestFailoverDuringManualHold(t *testing.T) {
	t.Parallel()
	if os.Getenv(testkit.PostgresVariable) == "" {
		t.Skip("needs PostgreSQL: scripts/with-postgres")
	}
	url := testkit.Postgres(t)
	s, d := open(t, url)
	if _, err := s.Hold(t.Context(), "a flood"); err != nil {
		t.Fatal(err)
	}
	f := restoreguard.NewFailoverCheck(false)
	for n := range 2 {
		run := func(query string, _ ...any) error {
			exec(t, d, query)
			return nil
		}
		queryRow := func(_ string, dest ...any) error {
			_, err := fmt.Sscan(fmt.Sprintf("%08X", 1+n), dest[0])
			return err
		}
		if err := f.CheckConnection(t.Context(), run, queryRow); err != nil {
			t.Fatal(err)
		}
	}
	if state, err := s.State(t.Context()); err != nil || state.Cause != restoreguard.FailedOver || state.Reason != "a flood" {
		t.Errorf("after a failover: %+v %v", state, err)
	}
}
