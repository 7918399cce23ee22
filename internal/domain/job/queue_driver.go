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

// pollingDriver is the queue's driver. It reads before it claims wakes, because every node polls several times
// a second, almost always without result, and a write would block others.
type pollingDriver struct {
	riverdriver.Driver[*sql.Tx]

	db *db.DB
}

// GetExecutor is called only by the queue's own code.
func (s pollingDriver) GetExecutor() riverdriver.Executor {
	return pollingExecutor{s.Driver.GetExecutor(), s.db}
}

// UnwrapExecutor is called for what is inserted in a transaction of ours.
func (s pollingDriver) UnwrapExecutor(tx *sql.Tx) riverdriver.ExecutorTx {
	if !s.db.Postgres() { // SQLite sets the time itself
		return s.Driver.UnwrapExecutor(tx)
	}
	return insertingTx{s.Driver.UnwrapExecutor(tx), s.db}
}

// insertingTx inserts wakes that are due by every clock: the library dates them by the machine's clock and
// claims them by the database's.
type insertingTx struct {
	riverdriver.ExecutorTx

	db *db.DB
}

// JobInsertFastMany inserts wakes.
func (e insertingTx) JobInsertFastMany(ctx context.Context,
	params *riverdriver.JobInsertFastManyParams) ([]*riverdriver.JobInsertFastResult, error) {
	due := dueNow(e.db.Now(), time.Now().UTC())
	for _, p := range params.Jobs {
		if p.ScheduledAt == nil {
			p.ScheduledAt = &due
		}
	}
	put, err := e.ExecutorTx.JobInsertFastMany(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("inserting wakes: %w", err)
	}
	return put, nil
}

// dueNow returns a time that has passed on both clocks.
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

// JobGetAvailable claims available wakes.
func (e pollingExecutor) JobGetAvailable(ctx context.Context,
	params *riverdriver.JobGetAvailableParams) ([]*rivertype.JobRow, error) {
	var some bool
	if err := e.db.QueryRow(ctx, anyAvailable, params.Queue).Scan(&some); err != nil {
		return nil, fmt.Errorf("polling for wakes: %w", err)
	}
	if !some {
		return nil, nil
	}
	taken, err := e.Executor.JobGetAvailable(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("claiming wakes: %w", err)
	}
	return taken, nil
}
