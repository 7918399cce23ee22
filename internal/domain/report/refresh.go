package report

import (
	"context"
	"fmt"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/job"
	"pressroom/internal/platform/db"
)

// Named names a report by its kind and id.
type Named struct {
	Type string `json:"type" enum:"profile|hashtag"`
	ID   string `json:"id" pattern:"^(?:[A-Za-z0-9-]{1,64})$"`
}

// refreshPrice is what a refresh costs: nothing where one is under way. It holds the report's row and refuses what
// cannot be refreshed now.
func (s *Service) refreshPrice(ctx context.Context, call operation.Call, in Named) (int64, error) {
	var cost int64
	err := s.db.InTx(ctx, "report.refreshable", func(ctx context.Context, tx *db.Tx) error {
		r, running, err := s.lockForRefresh(ctx, tx, call, in)
		if err == nil && running.ID == "" {
			cost = s.refreshCost(r.kind)
		}
		return err
	})
	return cost, err
}

// lockForRefresh holds a report that may be refreshed, and gives the job that does so already, if one does.
func (s *Service) lockForRefresh(ctx context.Context, tx *db.Tx, call operation.Call, in Named) (record, job.Record, error) {
	r, err := lock(ctx, tx, call.TeamID, in.Type, in.ID)
	if err != nil {
		return r, job.Record{}, err
	}
	if r.status == Failed {
		return r, job.Record{}, apierr.BadState(string(r.status), "Making this report failed. Create it again: what failed was not charged.")
	}
	if err := s.checkRefreshInterval(ctx, tx, r, call); err != nil {
		return r, job.Record{}, err
	}
	running, err := s.runningJob(ctx, tx, r)
	return r, running, err
}

// checkRefreshInterval refuses a person who asked for the same report a short while ago.
func (s *Service) checkRefreshInterval(ctx context.Context, tx *db.Tx, r record, call operation.Call) error {
	wait, err := s.refreshWait(ctx, tx, r.id, call.PersonID)
	if err != nil || wait == 0 {
		return err
	}
	return apierr.New(apierr.RateLimited, "This report was refreshed a short while ago for the same person. Nothing was done or charged.").With("scope", "connection").After(wait)
}

// runningJob is the job under way of a report; an empty record where none is.
func (s *Service) runningJob(ctx context.Context, tx *db.Tx, r record) (job.Record, error) {
	if r.job == "" {
		return job.Record{}, nil
	}
	last, err := job.Get(ctx, tx, r.team, r.job)
	if apierr.Is(err, apierr.NotFound) || err == nil && last.Finished() {
		return job.Record{}, nil
	}
	return last, err
}

// refresh makes a report anew.
func (s *Service) refresh(ctx context.Context, call operation.Call, in Named) (operation.Answer[job.Entry], error) {
	var out operation.Answer[job.Entry]
	err := s.db.InTx(ctx, "report.refresh", func(ctx context.Context, tx *db.Tx) error {
		r, running, err := s.lockForRefresh(ctx, tx, call, in)
		if err != nil {
			return err
		}
		if running.ID == "" {
			if running, err = s.startJob(ctx, tx, r, purposeRefresh, call); err != nil {
				return err
			}
			if err := recordRefresh(ctx, tx, r, call); err != nil {
				return err
			}
		} else {
			out.Notes = []string{"This report is being made already: nothing was charged again."}
		}
		out.App, out.Location = "/reports/"+r.id, job.Location(running.ID)
		out.Data, err = s.jobEntry(ctx, call, running)
		return err
	})
	return out, err
}

func recordRefresh(ctx context.Context, tx *db.Tx, r record, call operation.Call) error {
	_, err := tx.Exec(ctx, `INSERT INTO report_refreshes (report_id, person_id, asked_at) VALUES (?, ?, ?)
		ON CONFLICT (report_id, person_id) DO UPDATE SET asked_at = excluded.asked_at`, r.id, call.PersonID, db.Micros(call.Now))
	if err != nil {
		return fmt.Errorf("noting that report %s is refreshed: %w", r.id, err)
	}
	return nil
}
