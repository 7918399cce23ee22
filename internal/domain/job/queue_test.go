package job

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
)

// However long jobs take, what is due to the second comes.
func TestJobsHoldNothingElseUp(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		log := slog.New(slog.DiscardHandler)
		d := testkit.Open(t, url, nil)
		must.NoError(t, MigrateQueue(t.Context(), d, log))
		queue := must.Get(NewQueue(d, 1, log))(t)
		begun, due, let := make(chan string), make(chan string), make(chan struct{})
		queue.Handle(work, func(_ context.Context, id string) error {
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
			must.NoError(t, d.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				return queue.Wake(ctx, tx, kind, id)
			}))
		}
		wake(work, "a")
		must.NoError(t, queue.Start(t.Context()))
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
