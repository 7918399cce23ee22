package job

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/riverqueue/river/riverdriver"

	"pressroom.example/pressroom/internal/platform/db"
)

// pollingDriver is the queue's database driver. It checks for wakes with a read before it claims them with a write.
// Every node polls several times a second and usually finds nothing, and unnecessary writes would block other writers.
type pollingDriver struct {
	riverdriver.Driver[*sql.Tx]

	db *db.DB
}

// GetExecutor returns the executor that the queue polls with.
func (d pollingDriver) GetExecutor() riverdriver.Executor {
	return pollingExecutor{d.Driver.GetExecutor(), d.db}
}

// UnwrapExecutor returns the executor that inserts wakes in a caller's transaction.
func (d pollingDriver) UnwrapExecutor(tx *sql.Tx) riverdriver.ExecutorTx {
	if !d.db.Postgres() { // With SQLite, the library uses SQLite's clock both to insert and to claim wakes.
		return d.Driver.UnwrapExecutor(tx)
	}
	return insertingTx{d.Driver.UnwrapExecutor(tx), d.db}
}

// insertingTx inserts wakes that are due by both the machine's clock and the database's clock. The library inserts
// wakes with the machine's time but claims them with the database's time.
type insertingTx struct {
	riverdriver.ExecutorTx

	db *db.DB
}

// JobInsertFastMany inserts wakes.
func (t insertingTx) JobInsertFastMany(ctx context.Context,
	params *riverdriver.JobInsertFastManyParams) ([]*riverdriver.JobInsertFastResult, error) {
	scheduledAt := dueNow(t.db.Now(), time.Now().UTC())
	for _, p := range params.Jobs {
		if p.ScheduledAt == nil {
			p.ScheduledAt = &scheduledAt
		}
	}
	inserted, err := t.ExecutorTx.JobInsertFastMany(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("inserting wakes: %w", err)
	}
	return inserted, nil
}

// dueNow returns the earlier of the two clocks' times. A wake with this time is due by both clocks.
func dueNow(database, machine time.Time) time.Time {
	if machine.Before(database) {
		return machine
	}
	return database
}

// pollingExecutor claims wakes only if a read has found some.
type pollingExecutor struct {
	riverdriver.Executor

	db *db.DB
}

const anyAvailableQuery = `SELECT EXISTS (SELECT 1 FROM river_job WHERE state = 'available' AND queue = ?)`

// JobGetAvailable claims available wakes.
func (e pollingExecutor) JobGetAvailable(ctx context.Context,
	params *riverdriver.JobGetAvailableParams) (*riverdriver.JobGetAvailableResult, error) {
	var available bool
	if err := e.db.QueryRow(ctx, anyAvailableQuery, params.Queue).Scan(&available); err != nil {
		return nil, fmt.Errorf("polling for wakes: %w", err)
	}
	if !available {
		return &riverdriver.JobGetAvailableResult{}, nil
	}
	claimed, err := e.Executor.JobGetAvailable(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("claiming wakes: %w", err)
	}
	return claimed, nil
}
