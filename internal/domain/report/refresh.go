package report

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/db"
)

// Ref identifies a report by kind and ID.
type Ref struct {
	Type string `json:"type" enum:"profile|hashtag" title:"ReportKind"`
	ID   string `json:"id" pattern:"^(?:[A-Za-z0-9-]{1,64})$"`
}

// refreshPrice returns the price of a refresh. The price is 0 if a refresh is running. refreshPrice locks the report's
// row and returns an error if the report cannot be refreshed now.
func (s *Service) refreshPrice(ctx context.Context, call operation.Call, in Ref) (int64, error) {
	var cost int64
	err := call.InTx(ctx, s.db, "report.refreshable", func(ctx context.Context, tx *db.Tx) error {
		r, running, err := s.lockForRefresh(ctx, tx, call, in)
		if err == nil && running.ID == "" {
			cost = s.refreshCost(r.kind)
		}
		return err
	})
	return cost, err
}

// lockForRefresh locks a report and returns it with its running job, if any. It returns an error if the report cannot
// be refreshed now.
func (s *Service) lockForRefresh(ctx context.Context, tx *db.Tx, call operation.Call,
	in Ref) (record, job.Record, error) {
	r, err := lock(ctx, tx, call.TeamID, in.Type, in.ID)
	if err != nil {
		return r, job.Record{}, err
	}
	if r.status == Failed {
		return r, job.Record{}, apierr.BadState(string(r.status), "This report could not be created and was refunded. "+
			"Create it again.")
	}
	if err := s.checkRefreshInterval(ctx, tx, r, call); err != nil {
		return r, job.Record{}, err
	}
	running, err := s.runningJob(ctx, tx, r)
	return r, running, err
}

// checkRefreshInterval returns rate_limited if the person must wait before refreshing the report again.
func (s *Service) checkRefreshInterval(ctx context.Context, tx *db.Tx, r record, call operation.Call) error {
	wait, err := s.refreshWait(ctx, tx, r.id, call.PersonID)
	if err != nil || wait == 0 {
		return err
	}
	return apierr.New(apierr.RateLimited, "You refreshed this report a moment ago. Nothing was done or charged. Try "+
		"again later.").With("scope", "connection").WithRetryAfter(wait)
}

// runningJob returns the report's unfinished job, or an empty record if there is none.
func (s *Service) runningJob(ctx context.Context, tx *db.Tx, r record) (job.Record, error) {
	if r.lastJobID == "" {
		return job.Record{}, nil
	}
	lastJob, err := job.Get(ctx, tx, r.team, r.lastJobID)
	if apierr.Is(err, apierr.NotFound) || err == nil && lastJob.IsFinished() {
		return job.Record{}, nil
	}
	return lastJob, err
}

// refresh starts a refresh, or returns the running job.
func (s *Service) refresh(ctx context.Context, call operation.Call, in Ref) (operation.Response[job.Job], error) {
	var out operation.Response[job.Job]
	err := call.InTx(ctx, s.db, "report.refresh", func(ctx context.Context, tx *db.Tx) error {
		r, runningJob, err := s.lockForRefresh(ctx, tx, call, in)
		if err != nil {
			return err
		}
		if runningJob.ID == "" {
			if runningJob, err = s.startJob(ctx, tx, r, purposeRefresh, call); err != nil {
				return err
			}
			if err := recordRefresh(ctx, tx, r, call); err != nil {
				return err
			}
		} else {
			out.Notes = []string{"This report is already being created or refreshed. Nothing was charged again."}
		}
		out.App, out.Location = "/reports/"+r.id, job.Location(runningJob.ID)
		out.Data, err = s.jobEntry(ctx, tx, call, runningJob)
		return err
	})
	return out, err
}

func recordRefresh(ctx context.Context, tx *db.Tx, r record, call operation.Call) error {
	_, err := tx.Exec(ctx, `INSERT INTO report_refreshes (report_id, person_id, asked_at) VALUES (?, ?, ?)
		ON CONFLICT (report_id, person_id) DO UPDATE SET asked_at = excluded.asked_at`, r.id, call.PersonID,
		db.Micros(call.Now))
	if err != nil {
		return fmt.Errorf("recording the refresh of report %s: %w", r.id, err)
	}
	return nil
}
