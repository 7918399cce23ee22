package report

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

const (
	pollInterval  = time.Second
	pollBatch     = 50
	retryInterval = time.Minute // delay of a refresh while spending is paused or another job runs
	sweepBatch    = 100
)

// Reasons why tracking ends automatically.
const (
	endedByCredits = "credits"
	endedByPlan    = "plan"
)

// trackingEndedNotes explain these reasons to API clients.
var trackingEndedNotes = map[string]string{
	endedByCredits: "Tracking has stopped: the team had too few credits for the next automatic refresh.",
	endedByPlan:    "Tracking has stopped: the team's plan no longer includes it.",
}

// RunTracking starts automatic refreshes when they are due, until ctx is canceled. It calls report with each error.
// Several nodes may run it at the same time.
func (s *Service) RunTracking(ctx context.Context, report func(error)) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if err := s.refreshDue(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// dueQuery selects reports whose automatic refresh is due, unless publishing is on hold after a restore.
const dueQuery = `SELECT id FROM reports WHERE tracked = 1 AND next_refresh_at <= ? AND ` + restoreguard.NotHeld +
	` ORDER BY next_refresh_at LIMIT ?`

func (s *Service) refreshDue(ctx context.Context) error {
	ids, err := db.All(ctx, s.db, func(rows *sql.Rows, id *string) error { return rows.Scan(id) }, dueQuery,
		db.Micros(s.db.Now()), pollBatch)
	if err != nil {
		return fmt.Errorf("finding reports to refresh: %w", err)
	}
	var errs error
	for _, id := range ids {
		err := s.db.InTx(ctx, "report.automatic", func(ctx context.Context, tx *db.Tx) error {
			return s.refreshAutomatically(ctx, tx, id)
		})
		errs = errors.Join(errs, err)
	}
	return errs
}

// refreshAutomatically starts the automatic refresh of a report and reserves its price, if the refresh is still due. It
// ends tracking if the team has too few credits or its plan no longer allows tracking. If spending is paused or another
// job of the report is running, it postpones the refresh.
func (s *Service) refreshAutomatically(ctx context.Context, tx *db.Tx, id string) error {
	r, err := lockDue(ctx, tx, id)
	if err != nil || r.id == "" {
		return err
	}
	runningJob, err := s.runningJob(ctx, tx, r)
	if err != nil {
		return err
	}
	paused, err := isSpendingPaused(ctx, tx, r.team)
	if err != nil {
		return err
	}
	if paused || runningJob.ID != "" {
		r.nextRefresh = tx.Now().Add(retryInterval)
		return r.saveTracking(ctx, tx)
	}
	planAllows, err := s.planAllowsTracking(ctx, tx, r.team)
	if err != nil {
		return err
	}
	if !planAllows {
		return s.endTracking(ctx, tx, r, endedByPlan)
	}
	var reservation int64
	if cost := s.refreshCost(r.kind); cost > 0 {
		reservation, err = s.Credits.ReserveAutomatic(ctx, tx, r.team, r.trackedBy, "refresh_report", cost)
		if apierr.Is(err, apierr.InsufficientCredits) {
			return s.endTracking(ctx, tx, r, endedByCredits)
		}
		if err != nil {
			return err
		}
	}
	return s.startAutomatic(ctx, tx, r, reservation)
}

// lockDue locks and returns a tracked report that is due. It returns an empty record if the report is no longer due,
// for example because another node has started the refresh.
func lockDue(ctx context.Context, tx *db.Tx, id string) (record, error) {
	var r record
	if _, err := tx.Exec(ctx, `UPDATE reports SET subject = subject WHERE id = ?`, id); err != nil {
		return r, fmt.Errorf("locking report %s: %w", id, err)
	}
	err := r.scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM reports WHERE id = ? AND tracked = 1
		AND next_refresh_at <= ? AND `+restoreguard.NotHeld, id, db.Micros(tx.Now())).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return record{}, nil
	}
	if err != nil {
		return r, fmt.Errorf("reading report %s: %w", id, err)
	}
	return r, nil
}

func (s *Service) startAutomatic(ctx context.Context, tx *db.Tx, r record, reservation int64) error {
	j, err := s.Jobs.Create(ctx, tx, job.Params{TeamID: r.team, Type: r.jobType(), Subject: r.id, Total: 1,
		Reservation: reservation})
	if err != nil {
		return err
	}
	if err := s.submit(ctx, tx, r, j.ID, purposeAutomatic); err != nil {
		return err
	}
	// Missed refreshes are not made up for.
	r.nextRefresh = r.nextRefresh.Add(time.Duration(r.frequency) * day)
	if !r.nextRefresh.After(tx.Now()) {
		r.nextRefresh = tx.Now().Add(time.Duration(r.frequency) * day)
	}
	if err := r.saveTracking(ctx, tx); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, r.team, auditlog.Actor{}, "report.automatic", r.id, map[string]any{"job": j.ID})
}

// endTracking turns tracking off for a reason such as endedByCredits.
func (s *Service) endTracking(ctx context.Context, tx *db.Tx, r record, reason string) error {
	if err := s.disableTracking(ctx, tx, &r, reason); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, r.team, auditlog.Actor{}, "report.tracking_ended", r.id,
		map[string]any{"reason": reason})
}

// isSpendingPaused reports whether an operator has paused spending, or everything, for the team or for all teams.
func isSpendingPaused(ctx context.Context, q db.Querier, team int64) (bool, error) {
	var n int64
	err := q.QueryRow(ctx, `SELECT COUNT(*) FROM pauses WHERE action IN ('everything', 'spend') AND (scope = 'service'
		OR scope = 'team' AND target = ?)`, team).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("reading pauses: %w", err)
	}
	return n > 0, nil
}

// planAllowsTracking reports whether the team is open and its plan allows as many tracked reports as the team has.
func (s *Service) planAllowsTracking(ctx context.Context, tx *db.Tx, team int64) (bool, error) {
	p, isOpen, err := s.readPlan(ctx, tx, team)
	if err != nil || !isOpen {
		return false, err
	}
	if p.TrackedReports == plan.Unlimited {
		return true, nil
	}
	n, err := s.countTracked(ctx, tx, team)
	return n <= p.TrackedReports, err
}

// readPlan returns the current plan of a team and whether the team is open.
func (s *Service) readPlan(ctx context.Context, q db.Querier, team int64) (plan.Plan, bool, error) {
	var name string
	var planUntil, closedAt int64
	if err := q.QueryRow(ctx, `SELECT plan, plan_until, closed_at FROM teams WHERE id = ?`, team).Scan(&name, &planUntil,
		&closedAt); err != nil {
		return plan.Plan{}, false, fmt.Errorf("reading the plan of team %d: %w", team, err)
	}
	return s.Catalog.PlanInEffect(name, db.Time(planUntil), s.db.Now()), closedAt == 0, nil
}

// failedRetention is how long a report that could not be created is kept.
const failedRetention = 30 * day

// oldFailuresQuery selects old failed reports. Its conditions must match those of the partial index.
const oldFailuresQuery = `SELECT id FROM reports WHERE status = 'error' AND tracked = 0 AND created_at <= ? LIMIT ?`

// expiredQuery selects expired reports without a running job.
const expiredQuery = `SELECT r.id FROM reports r WHERE r.available_until > 0 AND r.available_until <= ?
	AND r.tracked = 0
	AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = r.job_id AND j.finished_at = 0) ORDER BY r.available_until
	LIMIT ?`

// Sweep deletes a batch of expired reports and a batch of old failed reports. It returns how many it deleted.
func (s *Service) Sweep(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.InTx(ctx, "report.sweep", func(ctx context.Context, tx *db.Tx) error {
		expiredCount, err := tx.Exec(ctx, `DELETE FROM reports WHERE id IN (`+expiredQuery+`)`, db.Micros(tx.Now()), sweepBatch)
		if err != nil {
			return err
		}
		failedCount, err := tx.Exec(ctx, `DELETE FROM reports WHERE id IN (`+oldFailuresQuery+`)`,
			db.Micros(tx.Now().Add(-failedRetention)), sweepBatch)
		n = expiredCount + failedCount
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping reports: %w", err)
	}
	return n, nil
}
