package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"pressroom/internal/platform/db"
	"pressroom/internal/platform/restoreguard"
	"pressroom/internal/platform/tracing"
)

// Do is how the work behind a type of job is done. It ends the job by Held.Finish, in the transaction of the work's
// last effect, or says when it is to be called again by Held.Later. It may be called again from the start at any time:
// after a crash, or when it failed.
type Do func(ctx context.Context, h LeasedJob) error

// ErrLeaseLost says that somebody else works on the job by now, or that it has ended: whatever was meant to be written
// is theirs to decide.
var ErrLeaseLost = errors.New("the lease of the job was lost")

// LeasedJob is a job that this process works on.
type LeasedJob struct {
	Record

	Epoch int64 // how many times the job was taken up, this time too
	trace string
}

// Finish ends the job in the transaction that ends its work; ErrFenced where another one does.
func (h LeasedJob) Finish(ctx context.Context, tx *db.Tx, state State, errorCode string) error {
	if err := h.Lock(ctx, tx); err != nil {
		return err
	}
	return Finish(ctx, tx, h.ID, state, errorCode)
}

// Lock holds the job's record for the transaction; ErrFenced where another one has taken it up.
func (h LeasedJob) Lock(ctx context.Context, tx *db.Tx) error {
	n, err := tx.Exec(ctx, `UPDATE jobs SET epoch = epoch WHERE id = ? AND epoch = ? AND finished_at = 0`, h.ID, h.Epoch)
	if err != nil {
		return fmt.Errorf("holding job %s: %w", h.ID, err)
	}
	if n == 0 {
		return ErrLeaseLost
	}
	return nil
}

// Postpone gives the job back until a time.
func (h LeasedJob) Postpone(ctx context.Context, tx *db.Tx, at time.Time) error {
	if err := h.Lock(ctx, tx); err != nil {
		return err
	}
	return wakeAt(ctx, tx, h.ID, at)
}

func wakeAt(ctx context.Context, tx *db.Tx, id string, at time.Time) error {
	if _, err := tx.Exec(ctx, `UPDATE jobs SET owner = '', lease_until = 0, wake_at = ? WHERE id = ? AND finished_at = 0`, db.Micros(at), id); err != nil {
		return fmt.Errorf("putting job %s off: %w", id, err)
	}
	return nil
}

// Worker brings jobs to those who do their work.
type Worker struct {
	db    *db.DB
	queue *Queue
	owner string // this process
	do    map[Type]Do
	log   *slog.Logger
}

// work is the queue's name for it.
const work = "job"

// NewWorker makes a worker. The work is handled once Handle says by whom.
func NewWorker(d *db.DB, queue *Queue, log *slog.Logger) *Worker {
	w := &Worker{db: d, queue: queue, owner: uuid.NewString(), do: map[Type]Do{}, log: log}
	queue.Handle(work, w.run)
	return w
}

// Handle says who does the work behind a type of job.
func (w *Worker) Handle(t Type, do Do) { w.do[t] = do }

const (
	leaseDuration = 10 * time.Second // how long a node that died holds a job up
	rewakeAfter   = 10 * time.Second // how long the queue is left to bring a wake to somebody
	wakeEvery     = 500 * time.Millisecond
	wakeBatch     = 100
)

// Submit wakes the work of a job in the transaction that makes it.
func (w *Worker) Submit(ctx context.Context, tx *db.Tx, id string) error {
	if err := wakeAt(ctx, tx, id, tx.Now().Add(rewakeAfter)); err != nil {
		return err
	}
	return w.queue.Wake(ctx, tx, work, id)
}

// WakeAt has the work of a job looked at when a time has come.
func (w *Worker) WakeAt(ctx context.Context, tx *db.Tx, id string, at time.Time) error {
	return wakeAt(ctx, tx, id, at)
}

// notHeldCondition is true of a job that may be worked on: while all is held, what is charged for waits.
const notHeldCondition = `(reservation_id = 0 OR ` + restoreguard.Free + `)`

// run does the work of a job that nobody holds. It is called by the queue, with any job, any number of times.
func (w *Worker) run(ctx context.Context, id string) error {
	h, mine, err := w.claim(ctx, id)
	if err != nil || !mine {
		return err
	}
	do := w.do[h.Type]
	if do == nil {
		return fmt.Errorf("nobody here does jobs of the type %q", h.Type)
	}
	ctx, span := tracing.Follow(ctx, "job", h.trace)
	span.Set("pressroom.job_id", h.ID)
	span.Set("pressroom.job_type", string(h.Type))
	span.SetID("pressroom.team_id", h.TeamID)
	span.SetID("pressroom.attempt", h.Epoch)
	held, release := KeepLease(ctx, leaseDuration, func(ctx context.Context) error { return w.renew(ctx, h) })
	defer release()
	err = do(held, h)
	span.End(err)
	if err != nil && !errors.Is(err, ErrLeaseLost) {
		// The lease runs out by itself and the job is brought to somebody again.
		w.log.ErrorContext(ctx, "a job was left for later", "job", h.ID, "times", h.Epoch, "error", err)
	}
	return nil
}

func (w *Worker) claim(ctx context.Context, id string) (LeasedJob, bool, error) {
	var h LeasedJob
	err := w.db.InTx(ctx, "job.claim", func(ctx context.Context, tx *db.Tx) error {
		until := db.Micros(tx.Now().Add(leaseDuration))
		var team int64
		err := tx.QueryRow(ctx, `UPDATE jobs SET owner = ?, epoch = epoch + 1, lease_until = ?, wake_at = ? WHERE id = ? AND finished_at = 0 AND lease_until < ? AND `+notHeldCondition+` RETURNING team_id, epoch, trace`,
			w.owner, until, until, id, db.Micros(tx.Now())).Scan(&team, &h.Epoch, &h.trace)
		if err != nil {
			return err
		}
		h.Record, err = Get(ctx, tx, team, id)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return h, false, nil
	}
	if err != nil {
		return h, false, fmt.Errorf("taking up job %s: %w", id, err)
	}
	return h, true, nil
}

func (w *Worker) renew(ctx context.Context, h LeasedJob) error {
	ctx, cancel := context.WithTimeout(ctx, leaseDuration/3)
	defer cancel()
	return w.db.InTx(ctx, "job.renew", func(ctx context.Context, tx *db.Tx) error {
		until := db.Micros(tx.Now().Add(leaseDuration))
		n, err := tx.Exec(ctx, `UPDATE jobs SET lease_until = ?, wake_at = ? WHERE id = ? AND epoch = ? AND finished_at = 0 AND owner <> ''`, until, until, h.ID, h.Epoch)
		if err != nil {
			return fmt.Errorf("renewing the lease of job %s: %w", h.ID, err)
		}
		if n == 0 {
			return ErrLeaseLost
		}
		return nil
	})
}

// Run wakes jobs whose time has come or whose worker died, until the context ends. Every working node runs one; they
// may run side by side.
func (w *Worker) Run(ctx context.Context, report func(error)) {
	tick := time.NewTicker(wakeEvery)
	defer tick.Stop()
	for {
		if err := w.wake(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *Worker) wake(ctx context.Context) error {
	now := w.db.Now()
	var waiting int
	err := w.db.QueryRow(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE wake_at > 0 AND wake_at <= ? AND `+notHeldCondition+` LIMIT 1) AS waiting`, db.Micros(now)).Scan(&waiting)
	if err != nil {
		return fmt.Errorf("looking for jobs to wake: %w", err)
	}
	if waiting == 0 {
		return nil
	}
	return w.db.InTx(ctx, "job.wake", func(ctx context.Context, tx *db.Tx) error {
		ids, err := db.All(ctx, tx, func(rows *sql.Rows, id *string) error { return rows.Scan(id) },
			`UPDATE jobs SET wake_at = ? WHERE id IN (SELECT id FROM jobs WHERE wake_at > 0 AND wake_at <= ? AND `+notHeldCondition+` ORDER BY wake_at LIMIT ?) AND wake_at > 0 AND wake_at <= ? RETURNING id`,
			db.Micros(now.Add(rewakeAfter)), db.Micros(now), wakeBatch, db.Micros(now))
		if err != nil {
			return fmt.Errorf("waking jobs: %w", err)
		}
		return w.queue.Wake(ctx, tx, work, ids...)
	})
}
