package job

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
)

// TestExpiredLeaseWritesNothing checks that a worker that lost its lease writes nothing, and that an ended job is not
// taken again.
func TestExpiredLeaseWritesNothing(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		clock, log := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), slog.New(slog.DiscardHandler)
		d := testkit.Open(t, url, clock)
		queue, err := NewQueue(d, 1, log)
		must(err)
		w := NewWorker(d, queue, log)
		var r Record
		write := func(do func(context.Context, *db.Tx) error) error { return d.InTx(t.Context(), "test", do) }
		must(write(func(ctx context.Context, tx *db.Tx) error {
			var team int64
			err := tx.QueryRow(ctx, `INSERT INTO teams (name, timezone, content_language, plan, created_at)
				VALUES ('Harbour', 'UTC', 'en', 'team', 1) RETURNING id`).Scan(&team)
			if err == nil {
				r, err = NewStore(d, nil, 5).Create(ctx, tx, Params{TeamID: team, Type: ContentFetch})
			}
			return err
		}))
		take := func(want bool) LeasedJob {
			t.Helper()
			h, mine, err := w.claim(t.Context(), r.ID)
			must(err)
			if mine != want {
				t.Fatalf("taken up: %t, want %t", mine, want)
			}
			return h
		}
		end := func(h LeasedJob) error {
			return write(func(ctx context.Context, tx *db.Tx) error { return h.Finish(ctx, tx, Succeeded, "") })
		}
		first := take(true)
		take(false) // during a hold
		clock.Advance(leaseDuration + time.Millisecond)
		second := take(true)
		if err := end(first); !errors.Is(err, ErrLeaseLost) {
			t.Errorf("the first worker ends the job: %v", err)
		}
		if err := w.renew(t.Context(), first); !errors.Is(err, ErrLeaseLost) {
			t.Errorf("the first worker renews its lease: %v", err)
		}
		must(w.renew(t.Context(), second))
		must(end(second))
		clock.Advance(time.Hour)
		take(false)
		if got, err := Get(t.Context(), d, r.TeamID, r.ID); err != nil || got.State != Succeeded {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
