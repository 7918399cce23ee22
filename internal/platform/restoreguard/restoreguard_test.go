package restoreguard_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/restoreguard"
	"pressroom.example/pressroom/internal/testkit"
)

func open(t *testing.T, url string) (*restoreguard.Service, *db.DB) {
	t.Helper()
	d := testkit.Open(t, url, nil)
	file, isSQLite := strings.CutPrefix(url, "sqlite:")
	if !isSQLite {
		file = ""
	}
	return restoreguard.New(d, restoreguard.Options{File: file, Log: slog.New(slog.DiscardHandler)}), d
}

func lift(d *db.DB) error {
	return d.InTx(context.Background(), "test.lift", func(ctx context.Context, tx *db.Tx) error { return restoreguard.Lift(ctx, tx, nil) })
}

// TestRunWithoutHold checks that a hold stops work, and that the work starts again afterwards.
func TestRunWithoutHold(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, d := open(t, url)
		ctx, cancel := context.WithCancel(t.Context())
		began, ended, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(over)
			s.RunUnlessHeld(ctx, func(err error) { t.Error(err) }, func(ctx context.Context) {
				began <- struct{}{}
				<-ctx.Done()
				ended <- struct{}{}
			})
		}()
		<-began
		if _, err := s.Hold(t.Context(), "a flood"); err != nil {
			t.Fatal(err)
		}
		<-ended
		if err := lift(d); err != nil {
			t.Fatal(err)
		}
		<-began
		cancel()
		<-ended
		<-over
	})
}

// TestHoldTwice checks that a second hold changes nothing and a second lift is rejected. The first hold and the first
// lift are recorded.
func TestHoldTwice(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, d := open(t, url)
		first, err := s.Hold(t.Context(), "a flood")
		if err != nil {
			t.Fatal(err)
		}
		second, err := s.Hold(t.Context(), "a great flood")
		if err != nil || second.HeldAt != first.HeldAt || second.Reason != "a great flood" ||
			second.Cause != restoreguard.Manual {
			t.Errorf("held again: %+v %v", second, err)
		}
		if _, err := s.Hold(t.Context(), "two\nlines"); err == nil {
			t.Error("a reason of two lines is accepted")
		}
		var free int
		if err := d.QueryRow(t.Context(),
			`SELECT COUNT(*) FROM teams WHERE `+restoreguard.NotHeld).Scan(&free); err != nil {
			t.Fatal(err)
		}
		if err := lift(d); err != nil {
			t.Fatal(err)
		}
		if err := lift(d); err == nil || err.Error() != "nothing is on hold" {
			t.Errorf("lifted again: %v", err)
		}
		var events int
		if err := d.QueryRow(t.Context(),
			`SELECT COUNT(*) FROM events WHERE kind IN ('service.held', 'service.resumed')`).Scan(&events); err != nil || events != 2 {
			t.Errorf("%d events, %v", events, err)
		}
	})
}

// TestCheck checks that the first check records the location, and that repeated checks begin only one hold.
func TestCheck(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, d := open(t, url)
		for range 3 {
			if err := s.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Mark(t.Context()); err != nil {
				t.Fatal(err)
			}
			if state, err := s.State(t.Context()); err != nil || state.IsHeld() {
				t.Fatalf("held: %+v %v", state, err)
			}
		}
		err := d.InTx(t.Context(), "test.elsewhere", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE hold SET place = '{"inode":1,"database":1}' WHERE id = 1`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if state, err := s.State(t.Context()); err != nil || state.Cause != restoreguard.Copied {
			t.Errorf("elsewhere: %+v %v", state, err)
		}
	})
}

// exec runs a statement.
func exec(t *testing.T, d *db.DB, statement string) {
	t.Helper()
	err := d.InTx(t.Context(), "test.exec", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkState checks the database and returns the state of the hold.
func checkState(t *testing.T, s *restoreguard.Service) restoreguard.State {
	t.Helper()
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	state, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// TestCopyReplacesManualHold checks that a detected copy replaces a manual hold, and that Since is the last event
// before the holds.
func TestCopyReplacesManualHold(t *testing.T) {
	t.Parallel()
	for name, found := range map[string]func(t *testing.T, s *restoreguard.Service, d *db.DB) restoreguard.State{
		"copied": func(t *testing.T, s *restoreguard.Service, d *db.DB) restoreguard.State {
			t.Helper()
			exec(t, d, `UPDATE hold SET place = '{"inode":1,"database":1}'`)
			return checkState(t, s)
		},
		"said to be copied": func(t *testing.T, s *restoreguard.Service, _ *db.DB) restoreguard.State {
			t.Helper()
			state, err := s.HoldCopy(t.Context(), "a snapshot")
			if err != nil {
				t.Fatal(err)
			}
			return state
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				s, d := open(t, url)
				exec(t, d, `INSERT INTO events (team_id, at, kind, subject, detail) VALUES (0, 1000, 'team.made', '', '{}')`)
				if checkState(t, s).IsHeld() {
					t.Fatal("held too early")
				}
				if _, err := s.Hold(t.Context(), "a snapshot"); err != nil {
					t.Fatal(err)
				}
				if state := found(t, s, d); state.Cause != restoreguard.Copied || state.Reason != "a snapshot" ||
					!state.Since.Equal(db.Time(1000)) {
					t.Errorf("%+v", state)
				}
				if state, err := s.Hold(t.Context(), "again"); err != nil || state.Cause != restoreguard.Copied {
					t.Errorf("by hand after that: %+v %v", state, err)
				}
			})
		})
	}
}

// TestEventIDsIncrease checks that a database that may have gone back does not reuse event IDs that consumers may have
// read. A manual hold does not skip IDs.
func TestEventIDsIncrease(t *testing.T) {
	t.Parallel()
	last := func(t *testing.T, d *db.DB) int64 {
		t.Helper()
		var id int64
		if err := d.QueryRow(t.Context(), `SELECT COALESCE(MAX(id), 0) FROM events`).Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, d := open(t, url)
		if _, err := s.Hold(t.Context(), "a flood"); err != nil || last(t, d) != 1 {
			t.Fatalf("by hand: %d, %v", last(t, d), err)
		}
		before := time.Now().UnixMilli()
		if _, err := s.HoldCopy(t.Context(), "a snapshot"); err != nil || last(t, d) < before {
			t.Errorf("a copy: %d, before it %d, %v", last(t, d), before, err)
		}
		copied := last(t, d)
		begin := func(now time.Time) int64 {
			err := d.InTx(t.Context(), "test.restore", func(ctx context.Context, tx *db.Tx) error {
				exec := func(query string, args ...any) error { _, err := tx.Exec(ctx, query, args...); return err }
				return restoreguard.HoldRestored(exec, d.Postgres(), now, now)
			})
			if err != nil {
				t.Fatal(err)
			}
			return last(t, d)
		}
		if got := begin(time.Now().Add(time.Hour)); got < copied+time.Hour.Milliseconds() {
			t.Errorf("restored: %d after %d", got, copied)
		}
		if was, got := last(t, d), begin(time.Now().Add(-time.Hour)); got < was+1000 {
			t.Errorf("restored with a clock that is behind: %d after %d", got, was)
		}
	})
}

// TestHoldLoggedOnce checks that a hold is logged once per start.
func TestHoldLoggedOnce(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		_, d := open(t, url)
		var log bytes.Buffer
		s := restoreguard.New(d, restoreguard.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		watch := func(of *restoreguard.Service) {
			if err := of.LogChange(t.Context()); err != nil {
				t.Error(err)
			}
		}
		watch(s)
		if log.Len() > 0 {
			t.Errorf("nothing is held: %s", &log)
		}
		if _, err := s.Hold(t.Context(), "a flood"); err != nil {
			t.Fatal(err)
		}
		watch(s)
		watch(s)
		if n := strings.Count(log.String(), "admin resume"); n != 1 {
			t.Errorf("logged %d times: %s", n, &log)
		}
		watch(restoreguard.New(d, restoreguard.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}))
		if n := strings.Count(log.String(), "admin resume"); n != 2 {
			t.Errorf("logged %d times after another start: %s", n, &log)
		}
	})
}

// TestMarkSuffices checks that the mark suffices to detect an older file.
func TestMarkSuffices(t *testing.T) {
	t.Parallel()
	s, d := open(t, testkit.SQLite(t))
	for range 3 {
		if err := s.Mark(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	exec(t, d, `UPDATE hold SET place = '', starts = 0`)
	if state := checkState(t, s); state.IsHeld() {
		t.Errorf("one that was never served is held: %+v", state)
	}
	exec(t, d, `UPDATE hold SET place = '{}', starts = 1`)
	if state := checkState(t, s); state.Cause != restoreguard.RolledBack {
		t.Errorf("an older one: %+v", state)
	}
}

// TestCommandDetectsNoFailover checks that a command beside the service does not detect failovers.
func TestCommandDetectsNoFailover(t *testing.T) {
	t.Parallel()
	if os.Getenv(testkit.PostgresVariable) == "" {
		t.Skip("needs PostgreSQL: scripts/with-postgres")
	}
	serves, d := open(t, testkit.Postgres(t))
	beside := restoreguard.New(d, restoreguard.Options{BesideServer: true, Log: slog.New(slog.DiscardHandler)})
	checkState(t, serves)
	exec(t, d, `UPDATE hold SET place = replace(place, '"timeline":', '"timeline":9')`)
	if state := checkState(t, beside); state.IsHeld() {
		t.Errorf("a command holds: %+v", state)
	}
	if state := checkState(t, serves); state.Cause != restoreguard.FailedOver {
		t.Errorf("the service: %+v", state)
	}
	exec(t, d, `UPDATE hold SET place = replace(place, '"timeline":', '"timeline":9')`)
	checkState(t, beside) // as when a hold is lifted
	if err := lift(d); err != nil {
		t.Fatal(err)
	}
	if state := checkState(t, serves); state.IsHeld() {
		t.Errorf("the same failover holds again: %+v", state)
	}
	exec(t, d, `UPDATE hold SET place = '{"database":1,"timeline":99}'`)
	if state := checkState(t, beside); state.Cause != restoreguard.Copied {
		t.Errorf("a copy: %+v", state)
	}
	if err := lift(d); err != nil {
		t.Fatal(err)
	}
	if state := checkState(t, serves); state.IsHeld() {
		t.Errorf("the previous location's timeline is compared: %+v", state)
	}
}
