package job

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"pressroom/internal/db"
)

// sparing is the queue's driver, which looks for wakes by reading before it takes any by writing: every node asks several
// times a second, nearly always for nothing, and a write would stand in everybody's way.
type sparing struct {
	riverdriver.Driver[*sql.Tx]

	db *db.DB
}

// GetExecutor is called by the queue's own code alone.
func (s sparing) GetExecutor() riverdriver.Executor {
	return sparingExecutor{s.Driver.GetExecutor(), s.db}
}

type sparingExecutor struct {
	riverdriver.Executor

	db *db.DB
}

const anyAvailable = `SELECT EXISTS (SELECT 1 FROM river_job WHERE state = 'available' AND queue = ?)`

// JobGetAvailable takes wakes that are there.
func (e sparingExecutor) JobGetAvailable(ctx context.Context, params *riverdriver.JobGetAvailableParams) ([]*rivertype.JobRow, error) {
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
