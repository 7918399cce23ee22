package report

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/db"
)

// Owner is the team and kind of a report.
type Owner struct {
	Team int64
	Kind string
}

// FindOwner returns the owner of the report with an ID. It searches the reports of all teams, so the caller must check
// access. It returns not_found if the report has expired.
func (s *Service) FindOwner(ctx context.Context, id string) (Owner, error) {
	var owner Owner
	err := s.db.QueryRow(ctx, `SELECT team_id, kind FROM reports WHERE id = ? AND (available_until = 0
		OR available_until > ? OR tracked = 1)`, id, db.Micros(s.db.Now())).Scan(&owner.Team, &owner.Kind)
	if errors.Is(err, sql.ErrNoRows) {
		return owner, apierr.ItemNotFound()
	}
	if err != nil {
		return owner, fmt.Errorf("finding the owner of report %s: %w", id, err)
	}
	return owner, nil
}

// Detail holds what the app shows about a report, except for its metrics.
type Detail struct {
	Kind, Platform, Subject string
	Status                  Status
	InProgress              bool          // whether the report is being created or refreshed
	Started                 bool          // whether the work in progress has begun
	Reserved                int64         // credits reserved for the work in progress
	Refunded                int64         // credits refunded after a failure
	LastFailed              string        // why the last refresh failed; empty if it succeeded
	Wait                    time.Duration // time until this person may refresh the report again
	RefreshCosts            int64
	Tracked                 bool
	Frequency               int       // days
	NextRefresh             time.Time // zero unless the report is tracked
	Ended                   string    // reason why tracking ended automatically
}

// Detail returns the details of a report for a member of its team.
func (s *Service) Detail(ctx context.Context, team, person int64, kind, id string) (Detail, error) {
	r, err := find(ctx, s.db, team, kind, id, db.Micros(s.db.Now()))
	if err != nil {
		return Detail{}, err
	}
	out := Detail{
		Kind: r.kind, Platform: r.platform, Subject: r.subject, Status: r.status, RefreshCosts: s.refreshCost(r.kind),
		Tracked: r.tracked, Frequency: r.frequency, NextRefresh: r.nextRefresh,
		Ended: trackingEndedNotes[r.trackingEnded],
	}
	if r.lastJobID != "" {
		lastJob, err := job.Get(ctx, s.db, team, r.lastJobID)
		if err = ignoreMissing(err); err != nil {
			return out, err
		}
		if err := s.addLastJob(ctx, r, lastJob, &out); err != nil {
			return out, err
		}
	}
	out.Wait, err = s.refreshWait(ctx, s.db, r.id, person)
	return out, err
}

// addLastJob adds the progress or outcome of the report's last job.
func (s *Service) addLastJob(ctx context.Context, r record, lastJob job.Record, out *Detail) error {
	var err error
	if out.InProgress = lastJob.ID != "" && !lastJob.IsFinished(); out.InProgress {
		out.Started = lastJob.State != job.Pending
		out.Reserved, err = s.Credits.ReservedCredits(ctx, lastJob.Reservation)
		return err
	}
	if lastJob.State != job.Failed {
		return nil
	}
	out.Refunded, err = s.Credits.RefundedCredits(ctx, lastJob.Reservation)
	if r.status == Ready {
		out.LastFailed = job.Message(lastJob.ErrorCode)
	}
	return err
}

// refreshWait returns how long a person must wait before refreshing the report again. It returns 0 if the person need
// not wait.
func (s *Service) refreshWait(ctx context.Context, q db.Querier, report string, person int64) (time.Duration, error) {
	var requestedAt int64
	err := q.QueryRow(ctx, `SELECT asked_at FROM report_refreshes WHERE report_id = ? AND person_id = ?`, report,
		person).Scan(&requestedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the last refresh of report %s: %w", report, err)
	}
	return max(0, db.Time(requestedAt).Add(time.Duration(s.Catalog.Limits.RefreshMinutes)*time.Minute).Sub(s.db.Now())), nil
}
