package job

import (
	"context"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
)

// waiting is a running job and a caller that may wait for it.
type waiting struct {
	*Store
	t    *testing.T
	db   *db.DB
	call operation.Call
	job  Record
}

func newWaiting(t *testing.T, url string) *waiting {
	t.Helper()
	d := testkit.Open(t, url, nil)
	w := &waiting{Store: NewStore(d, nil, 5), t: t, db: d}
	w.write(func(ctx context.Context, tx *db.Tx) error {
		var team int64
		err := tx.QueryRow(ctx, `INSERT INTO teams (name, timezone, content_language, plan, created_at)
			VALUES ('Harbour', 'UTC', 'en', 'team', 1) RETURNING id`).Scan(&team)
		if err == nil {
			w.job, err = w.Create(ctx, tx, Params{TeamID: team, Type: ContentFetch, Total: 3})
		}
		w.call = operation.Call{Actor: &access.Actor{TeamID: team, Zone: time.UTC}}
		return err
	})
	return w
}

func (w *waiting) write(do func(context.Context, *db.Tx) error) {
	if err := w.db.InTx(context.WithoutCancel(w.t.Context()), "test", do); err != nil {
		w.t.Error(err)
	}
}

// get returns the job after waiting for at most that many seconds.
func (w *waiting) get(ctx context.Context, seconds int) (Job, error) {
	answer, err := w.Store.get(ctx, w.call, GetInput{JobID: w.job.ID, Limit: 20, WaitSeconds: seconds})
	return answer.Data, err
}

// TestWaitEndsWithJob checks that a wait reports each step of the job, and ends with it.
func TestWaitEndsWithJob(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newWaiting(t, url)
		var told []operation.Progress
		w.call.OnProgress = func(p operation.Progress) { // between two polls, so that each step is seen
			told = append(told, p)
			w.write(func(ctx context.Context, tx *db.Tx) error {
				if len(told) == 3 {
					return Finish(ctx, tx, w.job.ID, Succeeded, "")
				}
				return Advance(ctx, tx, w.job.ID, len(told))
			})
		}
		got, err := w.get(t.Context(), MaxWaitSeconds)
		if err != nil || !got.Finished || len(told) != 3 {
			t.Fatalf("%+v, %v, told %+v", got, err, told)
		}
		for i, words := range []string{"pending; 0 of 3", "running; 1 of 3", "running; 2 of 3"} {
			if p := told[i]; !strings.Contains(p.Message, words) || p.Total != MaxWaitSeconds ||
				i > 0 && p.Done <= told[i-1].Done {
				t.Errorf("told %+v, want %s", told, words)
			}
		}
	})
}

func TestWaitLimit(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newWaiting(t, url)
		began := time.Now()
		if got, err := w.get(t.Context(), 1); err != nil || got.Finished || time.Since(began) < time.Second {
			t.Errorf("%+v, %v after %v", got, err, time.Since(began))
		}
		for range maxWaiters {
			w.waiters.slots <- struct{}{}
		}
		if got, err := w.get(t.Context(), MaxWaitSeconds); err != nil || got.Finished ||
			time.Since(began) > MaxWaitSeconds*time.Second {
			t.Errorf("with no place left: %+v, %v after %v", got, err, time.Since(began))
		}
	})
}

// TestWaitEndsEarly checks that a wait ends when the client disconnects or the program stops.
func TestWaitEndsEarly(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newWaiting(t, url)
		ctx, hangUp := context.WithCancel(t.Context())
		w.call.OnProgress = func(operation.Progress) { hangUp() }
		began := time.Now()
		if got, err := w.get(ctx, MaxWaitSeconds); err != nil || got.Finished {
			t.Errorf("hung up: %+v, %v", got, err)
		}
		w.call.OnProgress = func(operation.Progress) { w.EndWaits() }
		if got, err := w.get(t.Context(), MaxWaitSeconds); err != nil || got.Finished {
			t.Errorf("the program ends: %+v, %v", got, err)
		}
		w.EndWaits()
		if took := time.Since(began); took > (MaxWaitSeconds-5)*time.Second || len(w.waiters.slots) != 0 {
			t.Errorf("waited for %v; %d places are taken still", took, len(w.waiters.slots))
		}
	})
}
