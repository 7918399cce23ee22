package job

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"pressroom/internal/platform/db"
)

// pollingDriver is the queue's driver, which looks for wakes by reading before it takes any by writing: every node asks several
// times a second, nearly always for nothing, and a write would stand in everybody's way.
type pollingDriver struct {
	riverdriver.Driver[*sql.Tx]

	db *db.DB
}

// GetExecutor is called by the queue's own code alone.
func (s pollingDriver) GetExecutor() riverdriver.Executor {
	return pollingExecutor{s.Driver.GetExecutor(), s.db}
}

// UnwrapExecutor is called for what is put into the queue in a transaction of ours.
func (s pollingDriver) UnwrapExecutor(tx *sql.Tx) riverdriver.ExecutorTx {
	if !s.db.Postgres() { // SQLite dates them itself
		return s.Driver.UnwrapExecutor(tx)
	}
	return insertingTx{s.Driver.UnwrapExecutor(tx), s.db}
}

// insertingTx puts wakes in that are due by every clock: the library dates them by the machine's and takes them by the database's.
type insertingTx struct {
	riverdriver.ExecutorTx

	db *db.DB
}

// JobInsertFastMany puts wakes in.
func (e insertingTx) JobInsertFastMany(ctx context.Context, params *riverdriver.JobInsertFastManyParams) ([]*riverdriver.JobInsertFastResult, error) {
	due := dueNow(e.db.Now(), time.Now().UTC())
	for _, p := range params.Jobs {
		if p.ScheduledAt == nil {
			p.ScheduledAt = &due
		}
	}
	put, err := e.ExecutorTx.JobInsertFastMany(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("putting wakes in: %w", err)
	}
	return put, nil
}

// dueNow is a time that has come by both clocks.
func dueNow(database, machine time.Time) time.Time {
	if machine.Before(database) {
		return machine
	}
	return database
}

type pollingExecutor struct {
	riverdriver.Executor

	db *db.DB
}

const anyAvailable = `SELECT EXISTS (SELECT 1 FROM river_job WHERE state = 'available' AND queue = ?)`

// JobGetAvailable takes wakes that are there.
func (e pollingExecutor) JobGetAvailable(ctx context.Context, params *riverdriver.JobGetAvailableParams) ([]*rivertype.JobRow, error) {
	var some bool
	if err := e.db.QueryRow(ctx, anyAvailable, params.Queue).Scan(&some); err != nil {
		return nil, fmt.Errorf("looking for wakes: %w", err)
	}
	if !some {
		return nil, nil
	}
	taken, err := e.Executor.JobGetAvailable(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("taking wakes: %w", err)
	}
	return taken, nil
}
