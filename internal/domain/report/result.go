package report

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/db"
)

// ReportResult is the result of a finished report job.
type ReportResult struct {
	Report         ReportResultReport `json:"report"`
	CreditsCharged int64              `json:"credits_charged"`
}

// ReportResultReport is the report that a job creates or refreshes.
type ReportResultReport struct {
	ID     string `json:"id"`
	Kind   string `json:"kind" enum:"profile|hashtag" title:"ReportKind"`
	Status Status `json:"status,omitempty" enum:"pending|ready|error" title:"ReportStatus" jsonschema:"Omitted if the report was deleted."`
}

// ResultReader returns a job.Result that reads the results of report jobs. charged returns the credits charged for a
// reservation.
func ResultReader(charged job.ChargedFunc) job.Result {
	read := func(ctx context.Context, q db.Querier, _ operation.Call, r job.Record, _ job.GetInput) (job.Output, error) {
		return readResult(ctx, q, charged, r)
	}
	return job.Result{Read: read, Data: []any{ReportResult{}}}
}

func readResult(ctx context.Context, q db.Querier, charged job.ChargedFunc, r job.Record) (job.Output, error) {
	out := job.Output{App: "/reports/" + r.Subject}
	if !r.IsFinished() {
		return out, nil
	}
	credits, err := charged(ctx, q, r.Reservation)
	if err != nil {
		return out, err
	}
	rec, err := find(ctx, q, r.TeamID, reportKind(r.Type), r.Subject, 0)
	if err = ignoreMissing(err); err != nil {
		return out, fmt.Errorf("reading the report of job %s: %w", r.ID, err)
	}
	out.Result = ReportResult{Report: ReportResultReport{ID: r.Subject, Kind: reportKind(r.Type), Status: rec.status},
		CreditsCharged: credits}
	return out, nil
}

func ignoreMissing(err error) error {
	if apierr.Is(err, apierr.NotFound) {
		return nil
	}
	return err
}
