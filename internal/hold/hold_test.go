package hold_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"pressroom/internal/db"
	"pressroom/internal/hold"
	"pressroom/internal/testkit"
)

func open(t *testing.T, url string) (*hold.Service, *db.DB) {
	t.Helper()
	d := testkit.Open(t, url, nil)
	file, isSQLite := strings.CutPrefix(url, "sqlite:")
	if !isSQLite {
		file = ""
	}
	return hold.New(d, hold.Options{File: file, Log: slog.New(slog.DiscardHandler)}), d
}

func lift(d *db.DB) error {
	return d.Write(context.Background(), "test.lift", func(ctx context.Context, tx *db.Tx) error { return hold.Lift(ctx, tx, nil) })
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

// Holding twice keeps what it was held for and since when; lifting twice is refused; both are recorded.
func TestHeldOnce(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s, d := open(t, url)
		first, err := s.Hold(t.Context(), "a flood")
		if err != nil {
			t.Fatal(err)
		}
		second, err := s.Hold(t.Context(), "a great flood")
		if err != nil || second.HeldAt != first.HeldAt || second.Reason != "a great flood" || second.Why != hold.ByHand {
			t.Errorf("held again: %+v %v", second, err)
		}
		if _, err := s.Hold(t.Context(), "two\nlines"); err == nil {
			t.Error("a reason of two lines is taken")
		}
		var free int
		if err := d.QueryRow(t.Context(), `SELECT COUNT(*) FROM teams WHERE `+hold.Free).Scan(&free); err != nil {
			t.Fatal(err)
		}
		if err := lift(d); err != nil {
			t.Fatal(err)
		}
		if err := lift(d); !hold.NotHeld(err) {
			t.Errorf("lifted again: %v", err)
		}
		var events int
		if err := d.QueryRow(t.Context(), `SELECT COUNT(*) FROM events WHERE kind IN ('service.held', 'service.resumed')`).Scan(&events); err != nil || events != 2 {
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
			if err := s.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Mark(t.Context()); err != nil {
				t.Fatal(err)
			}
			if state, err := s.State(t.Context()); err != nil || state.Held() {
				t.Fatalf("held: %+v %v", state, err)
			}
		}
		err := d.Write(t.Context(), "test.elsewhere", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE hold SET place = '{"inode":1,"database":1}' WHERE id = 1`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if state, err := s.State(t.Context()); err != nil || state.Why != hold.Copied {
			t.Errorf("elsewhere: %+v %v", state, err)
		}
	})
}
