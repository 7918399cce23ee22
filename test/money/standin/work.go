package standin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/failpoint"
)

// jobSteps is the total progress of a job. The first try of a Later query counts as one step.
const jobSteps = 2

var (
	errSuspended = errors.New("jobs are suspended")
	errLater     = errors.New("the query makes the first try fail")
)

// Do runs the job with the given ID. Two nodes may run the same job concurrently.
func (s *Service) Do(ctx context.Context, id string) error {
	var query string
	var reservation, done, finished int64
	err := s.parts.DB.QueryRow(ctx, `SELECT subject, reservation_id, done, finished_at FROM jobs WHERE id = ?`, id).
		Scan(&query, &reservation, &done, &finished)
	if err == nil {
		err = inject(ctx, nil, "stand_in.read")
	}
	switch {
	case err != nil:
		return fmt.Errorf("reading job %s: %w", id, err)
	case finished > 0:
		return nil
	case s.suspended():
		return errSuspended
	case ParseQuery(query).End == Later && done == 0:
		return s.try(ctx, id)
	}
	return s.end(ctx, id, reservation, ParseQuery(query))
}

// try records the first try and returns errLater.
func (s *Service) try(ctx context.Context, id string) error {
	err := s.parts.DB.InTx(ctx, "stand_in.try", func(ctx context.Context, tx *db.Tx) error { return job.Advance(ctx, tx, id, 1) })
	if err != nil {
		return err
	}
	return errLater
}

// end settles the reservation and finishes the job in one transaction.
func (s *Service) end(ctx context.Context, id string, reservation int64, scenario Scenario) error {
	return s.parts.DB.InTx(ctx, "stand_in.end", func(ctx context.Context, tx *db.Tx) error {
		if reservation > 0 {
			if _, err := s.parts.Credits.Settle(ctx, tx, reservation, scenario.Cost()); err != nil {
				return err
			}
		}
		if err := s.reach(ctx, tx, "stand_in.settled"); err != nil {
			return err
		}
		state, code := scenario.State()
		return job.Finish(ctx, tx, id, state, code)
	})
}

// sweepEvery is the interval at which a node looks for unfinished jobs that are not queued.
const sweepEvery = time.Second

// Run queues unfinished jobs, immediately and then periodically, until the context ends. It passes errors to report.
func (s *Service) Run(ctx context.Context, report func(error)) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Service) sweep(ctx context.Context) error {
	if s.suspended() {
		return nil
	}
	ids, err := db.All(ctx, s.parts.DB, func(rows *sql.Rows, id *string) error { return rows.Scan(id) },
		`SELECT id FROM jobs WHERE is_counted = 1 AND finished_at = 0 AND type = ? ORDER BY created_at LIMIT 100`, string(searchType))
	if err != nil || len(ids) == 0 {
		return err
	}
	failpoint.Point("inside stand_in.sweep")
	return s.parts.DB.InTx(ctx, "stand_in.wake", func(ctx context.Context, tx *db.Tx) error {
		return s.parts.Queue.Wake(ctx, tx, queueName, ids...)
	})
}

// searchResult is the result of a finished search.
type searchResult struct {
	Hashtags []string `json:"hashtags"`
	Related  []string `json:"related"`
	Charged  int64    `json:"credits_charged"`
}

// result returns the result of a finished search.
func result(ctx context.Context, q db.Querier, _ operation.Call, r job.Record, _ job.GetInput) (job.Output, error) {
	out := searchResult{Hashtags: []string{}, Related: []string{}}
	if r.Reservation > 0 {
		err := q.QueryRow(ctx, `SELECT charged FROM reservations WHERE id = ? AND team_id = ?`, r.Reservation, r.TeamID).Scan(&out.Charged)
		if err != nil {
			return job.Output{}, fmt.Errorf("reading the charge of job %s: %w", r.ID, err)
		}
	}
	return job.Output{Result: out}, nil
}
