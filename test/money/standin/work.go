package standin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/core/operation"
	"pressroom/internal/domain/job"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/failpoint"
)

// tries is how many parts a job has: the first try of a Later order is one of them.
const tries = 2

var (
	errHeld  = errors.New("the work is held")
	errLater = errors.New("the first try fails, as it was ordered")
)

// Do processes a job by its ID from the queue. Two nodes may process the same job at once.
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
	case s.held():
		return errHeld
	case Read(query).End == Later && done == 0:
		return s.try(ctx, id)
	}
	return s.end(ctx, id, reservation, Read(query))
}

// try notes the first try, which fails.
func (s *Service) try(ctx context.Context, id string) error {
	err := s.parts.DB.InTx(ctx, "stand_in.try", func(ctx context.Context, tx *db.Tx) error { return job.Advance(ctx, tx, id, 1) })
	if err != nil {
		return err
	}
	return errLater
}

// end settles and ends the job in one transaction.
func (s *Service) end(ctx context.Context, id string, reservation int64, order Order) error {
	return s.parts.DB.InTx(ctx, "stand_in.end", func(ctx context.Context, tx *db.Tx) error {
		if reservation > 0 {
			if _, err := s.parts.Credits.Settle(ctx, tx, reservation, order.Cost()); err != nil {
				return err
			}
		}
		if err := s.inside(ctx, tx, "stand_in.settled"); err != nil {
			return err
		}
		state, code := order.State()
		return job.Finish(ctx, tx, id, state, code)
	})
}

// sweepEvery is how often a node looks for work whose wake was lost.
const sweepEvery = time.Second

// Run wakes unfinished work, at once and then regularly, until the context ends. It passes errors to report.
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
	if s.held() {
		return nil
	}
	ids, err := db.All(ctx, s.parts.DB, func(rows *sql.Rows, id *string) error { return rows.Scan(id) },
		`SELECT id FROM jobs WHERE has_place = 1 AND finished_at = 0 AND type = ? ORDER BY created_at LIMIT 100`, string(searching))
	if err != nil || len(ids) == 0 {
		return err
	}
	failpoint.Point("inside stand_in.sweep")
	return s.parts.DB.InTx(ctx, "stand_in.wake", func(ctx context.Context, tx *db.Tx) error {
		return s.parts.Queue.Wake(ctx, tx, wake, ids...)
	})
}

// found is the result of a finished search.
type found struct {
	Hashtags []string `json:"hashtags"`
	Related  []string `json:"related"`
	Charged  int64    `json:"credits_charged"`
}

// result returns the final charge.
func result(ctx context.Context, q db.Querier, _ operation.Call, r job.Record, _ job.GetInput) (job.Output, error) {
	out := found{Hashtags: []string{}, Related: []string{}}
	if r.Reservation > 0 {
		err := q.QueryRow(ctx, `SELECT charged FROM reservations WHERE id = ? AND team_id = ?`, r.Reservation, r.TeamID).Scan(&out.Charged)
		if err != nil {
			return job.Output{}, fmt.Errorf("reading what job %s was charged: %w", r.ID, err)
		}
	}
	return job.Output{Result: out}, nil
}
