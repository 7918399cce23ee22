package job

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	"pressroom/internal/platform/db"
)

// Wake is a message of the queue: look at this piece of work. It may come late, twice or never; the work's own
// record says what is to be done, and whoever keeps that record wakes it again in time.
type Wake struct {
	Work string `json:"work"` // what kind of work
	ID   string `json:"id"`
}

// Kind is the queue's name for it.
func (Wake) Kind() string { return "wake" }

// Queue carries wakes to the nodes that work, in the database's own transactions. Jobs, which may take minutes each, have
// workers of their own, so that however many of them wait, what is due to the second is not held up.
type Queue struct {
	db      *db.DB
	client  *river.Client[*sql.Tx]
	handler map[string]func(context.Context, string) error
	started bool
}

const (
	// The drivers for SQLite and database/sql poll; a due post has two seconds, so this may be a tenth of it.
	pollEvery = 200 * time.Millisecond
	// One piece of work bounds each of its own calls; this only ends what hangs against all care.
	wakeTimeout = 5 * time.Minute
	// jobsQueue carries the wakes of jobs.
	jobsQueue = "jobs"
	// Wakes are of no use once done.
	wakesKept = time.Hour
)

// NewQueue makes the queue. It works only once Start is called: until then it can only be written to.
func NewQueue(d *db.DB, workers int, log *slog.Logger) (*Queue, error) {
	q := &Queue{db: d, handler: map[string]func(context.Context, string) error{}}
	pool := river.NewWorkers()
	river.AddWorker(pool, river.WorkFunc(q.work))
	client, err := river.NewClient(pollingDriver{driver(d), d}, &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}, jobsQueue: {MaxWorkers: workers}}, Workers: pool, Logger: log,
		FetchPollInterval: pollEvery, FetchCooldown: pollEvery / 4, PollOnly: true,
		MaxAttempts: 1, JobTimeout: wakeTimeout,
		CompletedJobRetentionPeriod: wakesKept, DiscardedJobRetentionPeriod: wakesKept, CancelledJobRetentionPeriod: wakesKept,
	})
	if err != nil {
		return nil, fmt.Errorf("making the queue: %w", err)
	}
	q.client = client
	return q, nil
}

func driver(d *db.DB) riverdriver.Driver[*sql.Tx] {
	if d.Postgres() {
		return riverdatabasesql.New(d.Writer())
	}
	return riversqlite.New(d.Writer())
}

// MigrateQueue brings the queue's own tables to today's shape.
func MigrateQueue(ctx context.Context, d *db.DB, log *slog.Logger) error {
	m, err := rivermigrate.New(driver(d), &rivermigrate.Config{Logger: log})
	if err != nil {
		return fmt.Errorf("reading the queue's migrations: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrating the queue: %w", err)
	}
	return nil
}

// Handle says who does a kind of work. It is called before Start.
func (q *Queue) Handle(work string, do func(ctx context.Context, id string) error) {
	q.handler[work] = do
}

func (q *Queue) work(ctx context.Context, j *river.Job[Wake]) error {
	do := q.handler[j.Args.Work]
	if do == nil {
		return fmt.Errorf("nobody here does the work %q", j.Args.Work)
	}
	return do(ctx, j.Args.ID)
}

// Wake sends wakes in a transaction: they go out when it commits.
func (q *Queue) Wake(ctx context.Context, tx *db.Tx, kind string, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	params := make([]river.InsertManyParams, len(ids))
	for i, id := range ids {
		params[i] = river.InsertManyParams{Args: Wake{kind, id}}
		if kind == work {
			params[i].InsertOpts = &river.InsertOpts{Queue: jobsQueue}
		}
	}
	if _, err := q.client.InsertManyTx(ctx, tx.Tx, params); err != nil {
		return fmt.Errorf("waking %s: %w", kind, err)
	}
	return nil
}

// Start begins to work on this node.
func (q *Queue) Start(ctx context.Context) error {
	if err := q.client.Start(ctx); err != nil {
		return fmt.Errorf("starting the queue: %w", err)
	}
	q.started = true
	return nil
}

// Stop lets running work end, until the context does.
func (q *Queue) Stop(ctx context.Context) error {
	if !q.started {
		return nil
	}
	if err := q.client.Stop(ctx); err != nil {
		return fmt.Errorf("stopping the queue: %w", err)
	}
	return nil
}
