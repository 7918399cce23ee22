package job

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
)

// TestLongJobsDelayNoOthers checks that long jobs do not delay other due work.
func TestLongJobsDelayNoOthers(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		log := slog.New(slog.DiscardHandler)
		d := testkit.Open(t, url, nil)
		if err := MigrateQueue(t.Context(), d, log); err != nil {
			t.Fatal(err)
		}
		queue, err := NewQueue(d, 1, log)
		if err != nil {
			t.Fatal(err)
		}
		begun, due, let := make(chan string), make(chan string), make(chan struct{})
		queue.Handle(workKind, func(_ context.Context, id string) error {
			begun <- id
			<-let
			return nil
		})
		queue.Handle("due", func(_ context.Context, id string) error {
			due <- id
			return nil
		})
		wake := func(kind, id string) {
			t.Helper()
			if err := d.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				return queue.Wake(ctx, tx, kind, id)
			}); err != nil {
				t.Fatal(err)
			}
		}
		wake(workKind, "a")
		if err := queue.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := func(from chan string, want string) {
			t.Helper()
			select {
			case id := <-from:
				if id != want {
					t.Errorf("%s came, want %s", id, want)
				}
			case <-time.After(time.Minute):
				t.Errorf("%s did not come", want)
			}
		}
		got(begun, "a")
		wake("due", "b")
		got(due, "b")
		close(let)
		if err := queue.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
