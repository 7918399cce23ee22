package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/restoreguard"
	"pressroom.example/pressroom/internal/platform/tracing"
)

// Handler does the work of one job type. It calls LeasedJob.Finish in the transaction that stores the last effect of
// the work, or LeasedJob.Postpone to continue later. After a crash or failure, it is called again, so part of the work
// may already be done.
type Handler func(ctx context.Context, h LeasedJob) error

// ErrLeaseLost means that another node holds the job's lease or that the job has ended. The caller must not write
// anything.
var ErrLeaseLost = errors.New("the lease of the job was lost")

// LeasedJob is a job whose lease this process holds.
type LeasedJob struct {
	Record

	Epoch int64 // number of times the job was started
	trace string
}

// Finish ends the job in the caller's transaction. It returns ErrLeaseLost if this process no longer holds the lease.
func (j LeasedJob) Finish(ctx context.Context, tx *db.Tx, state State, errorCode string) error {
	if err := j.Lock(ctx, tx); err != nil {
		return err
	}
	return Finish(ctx, tx, j.ID, state, errorCode)
}

// Lock locks the job's record until the transaction ends. It returns ErrLeaseLost if this process no longer holds the
// lease.
func (j LeasedJob) Lock(ctx context.Context, tx *db.Tx) error {
	n, err := tx.Exec(ctx, `UPDATE jobs SET epoch = epoch WHERE id = ? AND epoch = ? AND finished_at = 0`, j.ID,
		j.Epoch)
	if err != nil {
		return fmt.Errorf("locking job %s: %w", j.ID, err)
	}
	if n == 0 {
		return ErrLeaseLost
	}
	return nil
}

// Postpone releases the lease and schedules the next start of the job at the given time.
func (j LeasedJob) Postpone(ctx context.Context, tx *db.Tx, at time.Time) error {
	if err := j.Lock(ctx, tx); err != nil {
		return err
	}
	return wakeAt(ctx, tx, j.ID, at)
}

// wakeAt releases the lease of an unfinished job and schedules its next start.
func wakeAt(ctx context.Context, tx *db.Tx, id string, at time.Time) error {
	if _, err := tx.Exec(ctx, `UPDATE jobs SET owner = '', lease_until = 0, wake_at = ? WHERE id = ?
		AND finished_at = 0`, db.Micros(at), id); err != nil {
		return fmt.Errorf("postponing job %s: %w", id, err)
	}
	return nil
}

// Worker runs job handlers.
type Worker struct {
	db       *db.DB
	queue    *Queue
	owner    string // unique ID of this process
	handlers map[Type]Handler
	log      *slog.Logger
}

// workKind is the queue's kind of work for jobs.
const workKind = "job"

// NewWorker returns a Worker without handlers.
func NewWorker(d *db.DB, queue *Queue, log *slog.Logger) *Worker {
	w := &Worker{db: d, queue: queue, owner: uuid.NewString(), handlers: map[Type]Handler{}, log: log}
	queue.Handle(workKind, w.runJob)
	return w
}

// Handle registers the handler of a job type.
func (w *Worker) Handle(t Type, handler Handler) { w.handlers[t] = handler }

const (
	leaseDuration = 10 * time.Second // also how long a job is delayed if its node crashes
	rewakeDelay   = 10 * time.Second // how long to wait for the queue before waking again
	wakeInterval  = 500 * time.Millisecond
	wakeBatchSize = 100
)

// Submit adds a wake for a new job to the queue, in the transaction that creates the job.
func (w *Worker) Submit(ctx context.Context, tx *db.Tx, id string) error {
	if err := wakeAt(ctx, tx, id, tx.Now().Add(rewakeDelay)); err != nil {
		return err
	}
	return w.queue.Wake(ctx, tx, workKind, id)
}

// WakeAt schedules the next start of a job.
func (w *Worker) WakeAt(ctx context.Context, tx *db.Tx, id string, at time.Time) error {
	return wakeAt(ctx, tx, id, at)
}

// notHeldCondition is an SQL condition that selects jobs that may run. Jobs with a reservation wait while publishing is
// on hold.
const notHeldCondition = `(reservation_id = 0 OR ` + restoreguard.NotHeld + `)`

// runJob claims a job and does its work. It does nothing if the job has ended or another node holds its lease.
func (w *Worker) runJob(ctx context.Context, id string) error {
	j, acquired, err := w.claim(ctx, id)
	if err != nil || !acquired {
		return err
	}
	handler := w.handlers[j.Type]
	if handler == nil {
		return fmt.Errorf("no handler for jobs of the type %q", j.Type)
	}
	ctx, span := tracing.StartLinked(ctx, "job", j.trace)
	span.Set("pressroom.job_id", j.ID)
	span.Set("pressroom.job_type", string(j.Type))
	span.SetID("pressroom.team_id", j.TeamID)
	span.SetID("pressroom.attempt", j.Epoch)
	leaseCtx, release := KeepLease(ctx, leaseDuration, func(ctx context.Context) error { return w.renew(ctx, j) })
	defer release()
	err = handler(leaseCtx, j)
	span.End(err)
	if err != nil && !errors.Is(err, ErrLeaseLost) {
		// The job is woken again when its lease expires.
		w.log.ErrorContext(ctx, "Job failed; it is retried when its lease expires", "job", j.ID, "times", j.Epoch,
			"error", err)
	}
	return nil
}

// claim takes a job's lease and reports whether it got the lease. It reports false if another node holds the lease, or
// if the job has ended or may not run now.
func (w *Worker) claim(ctx context.Context, id string) (LeasedJob, bool, error) {
	var j LeasedJob
	err := w.db.InTx(ctx, "job.claim", func(ctx context.Context, tx *db.Tx) error {
		leaseUntil := db.Micros(tx.Now().Add(leaseDuration))
		var team int64
		err := tx.QueryRow(ctx, `UPDATE jobs SET owner = ?, epoch = epoch + 1, lease_until = ?, wake_at = ?
			WHERE id = ? AND finished_at = 0 AND lease_until < ? AND `+notHeldCondition+
			` RETURNING team_id, epoch, trace`,
			w.owner, leaseUntil, leaseUntil, id, db.Micros(tx.Now())).Scan(&team, &j.Epoch, &j.trace)
		if err != nil {
			return err
		}
		j.Record, err = Get(ctx, tx, team, id)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return j, false, nil
	}
	if err != nil {
		return j, false, fmt.Errorf("claiming job %s: %w", id, err)
	}
	return j, true, nil
}

func (w *Worker) renew(ctx context.Context, j LeasedJob) error {
	ctx, cancel := context.WithTimeout(ctx, leaseDuration/3)
	defer cancel()
	return w.db.InTx(ctx, "job.renew", func(ctx context.Context, tx *db.Tx) error {
		leaseUntil := db.Micros(tx.Now().Add(leaseDuration))
		n, err := tx.Exec(ctx, `UPDATE jobs SET lease_until = ?, wake_at = ? WHERE id = ? AND epoch = ?
			AND finished_at = 0 AND owner <> ''`, leaseUntil, leaseUntil, j.ID, j.Epoch)
		if err != nil {
			return fmt.Errorf("renewing the lease of job %s: %w", j.ID, err)
		}
		if n == 0 {
			return ErrLeaseLost
		}
		return nil
	})
}

// Run wakes jobs that are due or whose lease has expired. It returns when ctx is canceled. Every worker node runs it.
func (w *Worker) Run(ctx context.Context, report func(error)) {
	tick := time.NewTicker(wakeInterval)
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

// wake adds wakes for due jobs to the queue.
func (w *Worker) wake(ctx context.Context) error {
	now := w.db.Now()
	var dueCount int
	err := w.db.QueryRow(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE wake_at > 0 AND wake_at <= ? AND `+
		notHeldCondition+` LIMIT 1) AS waiting`, db.Micros(now)).Scan(&dueCount)
	if err != nil {
		return fmt.Errorf("finding jobs to wake: %w", err)
	}
	if dueCount == 0 {
		return nil
	}
	return w.db.InTx(ctx, "job.wake", func(ctx context.Context, tx *db.Tx) error {
		ids, err := db.All(ctx, tx, func(rows *sql.Rows, id *string) error { return rows.Scan(id) },
			`UPDATE jobs SET wake_at = ? WHERE id IN (SELECT id FROM jobs WHERE wake_at > 0 AND wake_at <= ? AND `+
				notHeldCondition+` ORDER BY wake_at LIMIT ?) AND wake_at > 0 AND wake_at <= ? RETURNING id`,
			db.Micros(now.Add(rewakeDelay)), db.Micros(now), wakeBatchSize, db.Micros(now))
		if err != nil {
			return fmt.Errorf("waking jobs: %w", err)
		}
		return w.queue.Wake(ctx, tx, workKind, ids...)
	})
}
