package report

import (
	"context"
	"fmt"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/job"
)

// Result is the result of a finished report job.
type Result struct {
	Report         Made  `json:"report"`
	CreditsCharged int64 `json:"credits_charged"`
}

// Made identifies the report of a job.
type Made struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Status Status `json:"status,omitempty"` // omitted if the report was deleted
}

// ReadResult returns the result of a report job.
func (s *Service) ReadResult(ctx context.Context, _ operation.Call, r job.Record,
	_ job.GetInput) (job.Produced, error) {
	made := job.Produced{App: "/reports/" + r.Subject}
	if !r.Finished() {
		return made, nil
	}
	charged, err := s.Credits.Charged(ctx, r.Reservation)
	if err != nil {
		return made, err
	}
	found, err := find(ctx, s.db, r.TeamID, reportKind(r.Type), r.Subject, 0)
	if err = ignoreMissing(err); err != nil {
		return made, fmt.Errorf("reading the report of job %s: %w", r.ID, err)
	}
	made.Result = Result{Report: Made{ID: r.Subject, Kind: reportKind(r.Type), Status: found.status},
		CreditsCharged: charged}
	return made, nil
}

func ignoreMissing(err error) error {
	if apierr.Is(err, apierr.NotFound) {
		return nil
	}
	return err
}
