package search

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/db"
)

// outcome is how a search job ends.
type outcome struct {
	state     job.State
	code      string    // reason of a failure or partial failure
	charged   bool      // otherwise the reservation is refunded
	paidUntil time.Time // zero if the keyword is not paid for
	resultOf  string    // ID of the job whose result later searches get; empty if the result is incomplete
	notes     []string
	toMeasure []string // hashtags to measure in the background
}

// finish stores the result, settles the reservation and ends the job. It locks the keyword's row before the wallet, in
// the same order as the operations.
func (s *Service) finish(ctx context.Context, j job.LeasedJob, t task, o outcome, rows []row) error {
	return s.db.InTx(ctx, "search.end", func(ctx context.Context, tx *db.Tx) error {
		if err := j.Lock(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE hashtag_searches SET job_id = '', result_of = ?, paid_until = ? WHERE id = ?
			AND team_id = ?`, o.resultOf, db.Micros(o.paidUntil), t.search, t.team)
		if err != nil {
			return fmt.Errorf("ending a hashtag search: %w", err)
		}
		if err := saveRows(ctx, tx, j.ID, rows); err != nil {
			return err
		}
		if err := saveNotes(ctx, tx, j.ID, o.notes); err != nil {
			return err
		}
		if err := s.Statistics.Enqueue(ctx, tx, t.platform, o.toMeasure); err != nil {
			return err
		}
		if err := s.settle(ctx, tx, j, o.charged); err != nil {
			return err
		}
		return j.Finish(ctx, tx, o.state, o.code)
	})
}

// settle charges or refunds the job's reservation, if it has one.
func (s *Service) settle(ctx context.Context, tx *db.Tx, j job.LeasedJob, charged bool) error {
	if j.Reservation == 0 {
		return nil
	}
	chargeOrRefund := s.Credits.Refund
	if charged {
		chargeOrRefund = s.Credits.Charge
	}
	_, err := chargeOrRefund(ctx, tx, j.Reservation)
	return err
}

// fail ends a search with an error code and refunds it. An earlier payment for the keyword remains valid.
func (s *Service) fail(ctx context.Context, j job.LeasedJob, t task, code string) error {
	return s.finish(ctx, j, t, outcome{state: job.Failed, code: code, paidUntil: t.paidUntil}, nil)
}
