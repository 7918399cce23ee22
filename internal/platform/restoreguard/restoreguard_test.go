package restoreguard_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"pressroom/internal/platform/db"
	"pressroom/internal/platform/restoreguard"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
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

// Held by hand, work rests that goes on while nothing is held, and begins anew once the hold is lifted.
func TestWhile(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, d := open(t, url)
		ctx, cancel := context.WithCancel(t.Context())
		began, ended, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(over)
			s.While(ctx, func(err error) { t.Error(err) }, func(ctx context.Context) {
				began <- struct{}{}
				<-ctx.Done()
				ended <- struct{}{}
			})
		}()
		<-began
		must.Get(s.Hold(t.Context(), "a flood"))(t)
		<-ended
		must.NoError(t, lift(d))
		<-began
		cancel()
		<-ended
		<-over
	})
}

// Holding twice keeps what it was held for and since when; lifting twice is refused; both are recorded.
func TestHeldOnce(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, d := open(t, url)
		first := must.Get(s.Hold(t.Context(), "a flood"))(t)
		second, err := s.Hold(t.Context(), "a great flood")
		if err != nil || second.HeldAt != first.HeldAt || second.Reason != "a great flood" || second.Why != restoreguard.ByHand {
			t.Errorf("held again: %+v %v", second, err)
		}
		if _, err := s.Hold(t.Context(), "two\nlines"); err == nil {
			t.Error("a reason of two lines is taken")
		}
		var free int
		must.NoError(t, d.QueryRow(t.Context(), `SELECT COUNT(*) FROM teams WHERE `+restoreguard.Free).Scan(&free))
		must.NoError(t, lift(d))
		if err := lift(d); !restoreguard.NotHeld(err) {
			t.Errorf("lifted again: %v", err)
		}
		var events int
		if err := d.QueryRow(t.Context(),
			`SELECT COUNT(*) FROM events WHERE kind IN ('service.held', 'service.resumed')`).Scan(&events); err != nil || events != 2 {
			t.Errorf("%d events, %v", events, err)
		}
	})
}

// Looking twice is one look, and a database that was never served lives where it is first seen.
func TestLook(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, d := open(t, url)
		for range 3 {
			must.NoError(t, s.Look(t.Context()))
			must.NoError(t, s.Mark(t.Context()))
			if state, err := s.State(t.Context()); err != nil || state.Held() {
				t.Fatalf("held: %+v %v", state, err)
			}
		}
		must.NoError(t, d.InTx(t.Context(), "test.elsewhere", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE hold SET place = '{"inode":1,"database":1}' WHERE id = 1`)
			return err
		}))
		must.NoError(t, s.Look(t.Context()))
		if state, err := s.State(t.Context()); err != nil || state.Why != restoreguard.Copied {
			t.Errorf("elsewhere: %+v %v", state, err)
		}
	})
}

// exec changes what a test wants changed.
func exec(t *testing.T, d *db.DB, statement string) {
	t.Helper()
	must.NoError(t, d.InTx(t.Context(), "test.exec", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement)
		return err
	}))
}

// looksFor looks, and tells what the database is held for.
func looksFor(t *testing.T, s *restoreguard.Service) restoreguard.State {
	t.Helper()
	must.NoError(t, s.Look(t.Context()))
	state := must.Get(s.State(t.Context()))(t)
	return state
}

// A hold by hand, which is lifted without asking the networks, hides no later reason for asking them; what it asks
// them for is what came after the last sign of life, and that it was held is none.
func TestByHandHidesNothing(t *testing.T) {
	t.Parallel()
	for name, found := range map[string]func(t *testing.T, s *restoreguard.Service, d *db.DB) restoreguard.State{
		"copied": func(t *testing.T, s *restoreguard.Service, d *db.DB) restoreguard.State {
			t.Helper()
			exec(t, d, `UPDATE hold SET place = '{"inode":1,"database":1}'`)
			return looksFor(t, s)
		},
		"said to be copied": func(t *testing.T, s *restoreguard.Service, _ *db.DB) restoreguard.State {
			t.Helper()
			state := must.Get(s.HoldCopy(t.Context(), "a snapshot"))(t)
			return state
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, url string) {
				s, d := open(t, url)
				exec(t, d, `INSERT INTO events (team_id, at, kind, subject, detail) VALUES (0, 1000, 'team.made', '', '{}')`)
				if looksFor(t, s).Held() {
					t.Fatal("held too early")
				}
				must.Get(s.Hold(t.Context(), "a snapshot"))(t)
				if state := found(t, s, d); state.Why != restoreguard.Copied || state.Reason != "a snapshot" ||
					!state.Since.Equal(db.Time(1000)) {
					t.Errorf("%+v", state)
				}
				if state, err := s.Hold(t.Context(), "again"); err != nil || state.Why != restoreguard.Copied {
					t.Errorf("by hand after that: %+v %v", state, err)
				}
			})
		})
	}
}

// A database that may have gone back uses no id of an event again that whoever takes events along may know; one that
// is held by hand goes on counting.
func TestIDsOfEventsGoAhead(t *testing.T) {
	t.Parallel()
	last := func(t *testing.T, d *db.DB) int64 {
		t.Helper()
		var id int64
		must.NoError(t, d.QueryRow(t.Context(), `SELECT COALESCE(MAX(id), 0) FROM events`).Scan(&id))
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
			must.NoError(t, d.InTx(t.Context(), "test.restore", func(ctx context.Context, tx *db.Tx) error {
				exec := func(query string, args ...any) error { _, err := tx.Exec(ctx, query, args...); return err }
				return restoreguard.Begin(exec, d.Postgres(), now, now)
			}))
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

// A hold is told in the log at each start, and when it is noticed, once.
func TestHoldIsLogged(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		_, d := open(t, url)
		var log bytes.Buffer
		s := restoreguard.New(d, restoreguard.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		watch := func(of *restoreguard.Service) {
			if err := of.Warn(t.Context()); err != nil {
				t.Error(err)
			}
		}
		watch(s)
		if log.Len() > 0 {
			t.Errorf("nothing is held: %s", &log)
		}
		must.Get(s.Hold(t.Context(), "a flood"))(t)
		watch(s)
		watch(s)
		if n := strings.Count(log.String(), "admin resume"); n != 1 {
			t.Errorf("told %d times: %s", n, &log)
		}
		watch(restoreguard.New(d, restoreguard.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}))
		if n := strings.Count(log.String(), "admin resume"); n != 2 {
			t.Errorf("told %d times after another start: %s", n, &log)
		}
	})
}

// Where neither the machine nor the file's number is known, the mark alone tells that a file is older than it was.
func TestMarkAlone(t *testing.T) {
	t.Parallel()
	s, d := open(t, testkit.SQLite(t))
	for range 3 {
		must.NoError(t, s.Mark(t.Context()))
	}
	exec(t, d, `UPDATE hold SET place = '', starts = 0`)
	if state := looksFor(t, s); state.Held() {
		t.Errorf("one that was never served is held: %+v", state)
	}
	exec(t, d, `UPDATE hold SET place = '{}', starts = 1`)
	if state := looksFor(t, s); state.Why != restoreguard.WentBack {
		t.Errorf("an older one: %+v", state)
	}
}

// A command beside the service leaves it to the service to judge whether a replica took over.
func TestBesideTheService(t *testing.T) {
	t.Parallel()
	if os.Getenv(testkit.PostgresVariable) == "" {
		t.Skip("needs PostgreSQL: scripts/with-postgres")
	}
	serves, d := open(t, testkit.Postgres(t))
	beside := restoreguard.New(d, restoreguard.Options{Beside: true, Log: slog.New(slog.DiscardHandler)})
	looksFor(t, serves)
	exec(t, d, `UPDATE hold SET place = replace(place, '"timeline":', '"timeline":9')`)
	if state := looksFor(t, beside); state.Held() {
		t.Errorf("a command holds: %+v", state)
	}
	if state := looksFor(t, serves); state.Why != restoreguard.FailedOver {
		t.Errorf("the service: %+v", state)
	}
	exec(t, d, `UPDATE hold SET place = replace(place, '"timeline":', '"timeline":9')`)
	looksFor(t, beside) // as a resumption does
	must.NoError(t, lift(d))
	if state := looksFor(t, serves); state.Held() {
		t.Errorf("the same failover holds again: %+v", state)
	}
	exec(t, d, `UPDATE hold SET place = '{"database":1,"timeline":99}'`)
	if state := looksFor(t, beside); state.Why != restoreguard.Copied {
		t.Errorf("a copy: %+v", state)
	}
	must.NoError(t, lift(d))
	if state := looksFor(t, serves); state.Held() {
		t.Errorf("the timeline of where it was is compared: %+v", state)
	}
}
