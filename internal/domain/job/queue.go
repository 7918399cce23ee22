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

	"pressroom.example/pressroom/internal/platform/db"
)

// Wake is a queue message that says that work may be due. It may arrive late, twice or never. The stored record of the
// work determines what to do, and a lost wake is replaced by a later one.
type Wake struct {
	Work string `json:"work"` // kind of work
	ID   string `json:"id"`
}

// Kind returns the queue's name for this type of message.
func (Wake) Kind() string { return "wake" }

// Queue delivers wakes to worker nodes. Callers add wakes in their database transactions. Jobs can take minutes, so
// they have their own workers and do not delay posts.
type Queue struct {
	db       *db.DB
	client   *river.Client[*sql.Tx]
	handlers map[string]func(context.Context, string) error
	started  bool
}

const (
	// pollInterval is short because a due post must be published within two seconds.
	pollInterval = 200 * time.Millisecond
	// wakeTimeout is the timeout for the work of one wake. It stops work that hangs. Each network call has a shorter
	// timeout.
	wakeTimeout = 5 * time.Minute
	// jobsQueue is the queue for the wakes of jobs.
	jobsQueue = "jobs"
	// wakeRetention is how long finished wakes are kept.
	wakeRetention = time.Hour
)

// NewQueue returns a Queue with two pools of the given number of workers: one for jobs, and one for all other work. The
// queue accepts wakes immediately, but does not deliver them before Start is called.
func NewQueue(d *db.DB, workers int, log *slog.Logger) (*Queue, error) {
	q := &Queue{db: d, handlers: map[string]func(context.Context, string) error{}}
	pool := river.NewWorkers()
	river.AddWorker(pool, river.WorkFunc(q.runHandler))
	client, err := river.NewClient(pollingDriver{driver(d), d}, &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers},
			jobsQueue: {MaxWorkers: workers}}, Workers: pool, Logger: log,
		FetchPollInterval: pollInterval, FetchCooldown: pollInterval / 4, PollOnly: true,
		MaxAttempts: 1, JobTimeout: wakeTimeout,
		CompletedJobRetentionPeriod: wakeRetention, DiscardedJobRetentionPeriod: wakeRetention,
		CancelledJobRetentionPeriod: wakeRetention,
	})
	if err != nil {
		return nil, fmt.Errorf("creating the queue: %w", err)
	}
	q.client = client
	return q, nil
}

// driver returns the queue library's driver for the database.
func driver(d *db.DB) riverdriver.Driver[*sql.Tx] {
	if d.Postgres() {
		return riverdatabasesql.New(d.Writer())
	}
	return riversqlite.New(d.Writer())
}

// MigrateQueue migrates the queue's own tables.
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

// Handle registers the function that does a kind of work. It must be called before Start.
func (q *Queue) Handle(work string, fn func(ctx context.Context, id string) error) {
	q.handlers[work] = fn
}

func (q *Queue) runHandler(ctx context.Context, j *river.Job[Wake]) error {
	fn := q.handlers[j.Args.Work]
	if fn == nil {
		return fmt.Errorf("no handler for the work %q", j.Args.Work)
	}
	return fn(ctx, j.Args.ID)
}

// Wake adds a wake for each ID to the queue, in the transaction tx. kind is the kind of work. The wakes are delivered
// after the transaction commits.
func (q *Queue) Wake(ctx context.Context, tx *db.Tx, kind string, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	params := make([]river.InsertManyParams, len(ids))
	for i, id := range ids {
		params[i] = river.InsertManyParams{Args: Wake{kind, id}}
		if kind == workKind {
			params[i].InsertOpts = &river.InsertOpts{Queue: jobsQueue}
		}
	}
	if _, err := q.client.InsertManyTx(ctx, tx.Tx, params); err != nil {
		return fmt.Errorf("waking %s: %w", kind, err)
	}
	return nil
}

// Start starts the workers of this node.
func (q *Queue) Start(ctx context.Context) error {
	if err := q.client.Start(ctx); err != nil {
		return fmt.Errorf("starting the queue: %w", err)
	}
	q.started = true
	return nil
}

// Stop stops the workers and waits for running work until ctx is canceled.
func (q *Queue) Stop(ctx context.Context) error {
	if !q.started {
		return nil
	}
	if err := q.client.Stop(ctx); err != nil {
		return fmt.Errorf("stopping the queue: %w", err)
	}
	return nil
}
