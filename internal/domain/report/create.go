package report

import (
	"context"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// CreateInput is the input of create_report.
type CreateInput struct {
	Type     string `json:"type" enum:"profile|hashtag" title:"ReportKind" jsonschema:"Hashtag reports are available for Instagram only."`
	Platform string `json:"platform,omitempty" enum:"instagram|tiktok" title:"AnalysisPlatform" default:"instagram"`
	Subject  string `json:"subject" minLength:"1" maxLength:"200"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (CreateInput) Descriptions() map[string]string {
	return map[string]string{
		"subject": "Profile: user name, @handle or link. Hashtag: with or without #, or its link.",
	}
}

// normalizedSubject returns the normalized profile name or hashtag.
func (in CreateInput) normalizedSubject() (string, error) {
	if in.Type == Profile {
		name, err := provider.ParseUsername(in.Platform, in.Subject)
		if err != nil {
			return "", apierr.Invalid(apierr.Malformed, "subject",
				"Invalid profile. Enter a username, with or without @, or a link to the profile.").
				Wrap(err)
		}
		return name, nil
	}
	if in.Platform != provider.Instagram {
		return "", apierr.Invalid(apierr.NotAllowedValue, "platform",
			"Hashtag reports are available for Instagram only.")
	}
	tag, err := provider.ParseHashtagFor(in.Platform, in.Subject)
	switch {
	case errors.Is(err, provider.ErrHashtagTooLong):
		return "", apierr.Invalid(apierr.TooLong, "subject", "A hashtag is limited to 100 characters.").Wrap(err)
	case err != nil:
		return "", apierr.Invalid(apierr.Malformed, "subject", "Invalid hashtag. Enter one hashtag of letters, digits and "+
			"underscores (not only digits), or its Instagram link.").Wrap(err)
	}
	return tag, nil
}

// createPrice returns the price of a report. The price is 0 if the team has the report or is creating it. createPrice
// inserts or locks the report's row, so that only one of several concurrent calls for a subject is charged. It returns
// an error if the price is not 0 and the provider is unreachable.
func (s *Service) createPrice(ctx context.Context, call operation.Call, in CreateInput) (int64, error) {
	subject, err := in.normalizedSubject()
	if err != nil {
		return 0, err
	}
	var r record
	err = call.InTx(ctx, s.db, "report.claim", func(ctx context.Context, tx *db.Tx) error {
		r, err = lockOrCreate(ctx, tx, call.TeamID, in.Type, in.Platform, subject)
		return err
	})
	if err != nil || r.isAvailable(call.Now) || r.isBeingCreated() {
		return 0, err
	}
	if call.BeforeTxErr != nil {
		return 0, s.sourceUnreachable(ctx, call.BeforeTxErr)
	}
	return s.createCost(in.Type), nil
}

// isBeingCreated reports whether a job is creating the report.
func (r record) isBeingCreated() bool { return r.status == Pending && r.lastJobID != "" }

// create starts a report, or returns the existing report or the job that creates it.
func (s *Service) create(ctx context.Context, call operation.Call,
	in CreateInput) (operation.Response[job.Job], error) {
	var out operation.Response[job.Job]
	subject, err := in.normalizedSubject()
	if err != nil {
		return out, err
	}
	err = call.InTx(ctx, s.db, "report.create", func(ctx context.Context, tx *db.Tx) error {
		r, err := lockOrCreate(ctx, tx, call.TeamID, in.Type, in.Platform, subject)
		if err != nil {
			return err
		}
		out.App = "/reports/" + r.id
		var j job.Record
		switch {
		case r.isAvailable(call.Now):
			out.Notes = []string{"The team already has this report. Nothing was charged. Refresh it for newer metrics."}
			j, err = s.finishedJob(ctx, tx, r)
		case r.isBeingCreated():
			out.Notes = []string{"This report is already being created. Nothing was charged again."}
			j, err = job.Get(ctx, tx, r.team, r.lastJobID)
		default:
			j, err = s.startJob(ctx, tx, r, purposeCreate, call)
		}
		if err != nil {
			return err
		}
		out.Data, err = s.jobEntry(ctx, tx, call, j)
		out.Location = job.Location(j.ID)
		return err
	})
	return out, err
}

// jobEntry returns the API representation of a job, with its result if the job has finished.
func (s *Service) jobEntry(ctx context.Context, tx *db.Tx, call operation.Call, r job.Record) (job.Job, error) {
	view, err := s.Jobs.View(ctx, tx, call, r, job.GetInput{JobID: r.ID})
	return view.Data, err
}

// startJob starts a job requested by a caller.
func (s *Service) startJob(ctx context.Context, tx *db.Tx, r record, p purpose,
	call operation.Call) (job.Record, error) {
	j, err := s.Jobs.Start(ctx, tx, job.Params{TeamID: r.team, Type: r.jobType(), Subject: r.id, Total: 1,
		Reservation: call.Reservation})
	if err != nil {
		return j, err
	}
	if err := auditlog.Record(ctx, tx, r.team, auditlog.NewActor(call), "report."+string(p), r.id,
		map[string]any{"job": j.ID}); err != nil {
		return j, err
	}
	return j, s.submit(ctx, tx, r, j.ID, p)
}

// submit stores a report's job with its purpose and queues it.
func (s *Service) submit(ctx context.Context, tx *db.Tx, r record, id string, p purpose) error {
	if _, err := tx.Exec(ctx, `INSERT INTO report_jobs (job_id, report_id, purpose) VALUES (?, ?, ?)`, id, r.id,
		string(p)); err != nil {
		return fmt.Errorf("storing the purpose of a job: %w", err)
	}
	if p == purposeCreate {
		if _, err := tx.Exec(ctx, `UPDATE reports SET status = ?, made_by = ?, created_at = ? WHERE id = ?`,
			string(Pending), id, db.Micros(tx.Now()), r.id); err != nil {
			return fmt.Errorf("starting report %s: %w", r.id, err)
		}
	}
	if _, err := tx.Exec(ctx, `UPDATE reports SET job_id = ? WHERE id = ?`, id, r.id); err != nil {
		return fmt.Errorf("starting report %s: %w", r.id, err)
	}
	return s.Worker.Submit(ctx, tx, id)
}

// finishedJob returns a finished job for an existing report. It returns the job that created the report or, if that job
// was deleted or did not succeed, a new job that has already succeeded and costs nothing.
func (s *Service) finishedJob(ctx context.Context, tx *db.Tx, r record) (job.Record, error) {
	j, err := job.Get(ctx, tx, r.team, r.creationJobID)
	if err == nil && j.State == job.Succeeded || err != nil && !apierr.Is(err, apierr.NotFound) {
		return j, err
	}
	j, err = s.Jobs.Create(ctx, tx, job.Params{TeamID: r.team, Type: r.jobType(), Subject: r.id, Total: 1})
	if err != nil {
		return j, err
	}
	if err := job.Finish(ctx, tx, j.ID, job.Succeeded, ""); err != nil {
		return j, err
	}
	if _, err := tx.Exec(ctx, `UPDATE reports SET made_by = ? WHERE id = ?`, j.ID, r.id); err != nil {
		return j, fmt.Errorf("storing the job of report %s: %w", r.id, err)
	}
	return job.Get(ctx, tx, r.team, j.ID)
}

// CreateFree starts a report free of charge, unless the team already has the report or is creating it.
func (s *Service) CreateFree(ctx context.Context, team int64, in CreateInput) error {
	subject, err := in.normalizedSubject()
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, "report.give", func(ctx context.Context, tx *db.Tx) error {
		r, err := lockOrCreate(ctx, tx, team, in.Type, in.Platform, subject)
		if err != nil || r.isAvailable(tx.Now()) || r.isBeingCreated() {
			return err
		}
		j, err := s.Jobs.Create(ctx, tx, job.Params{TeamID: team, Type: r.jobType(), Subject: r.id, Total: 1})
		if err != nil {
			return err
		}
		return s.submit(ctx, tx, r, j.ID, purposeCreate)
	})
}

// AddMeasurements stores earlier measurements of a profile. If the team has no report on the profile, it inserts an
// empty one, which the caller must complete by calling CreateFree. A measurement replaces a stored measurement that has
// the same time.
func (s *Service) AddMeasurements(ctx context.Context, team int64, in CreateInput, samples []FollowerSample) error {
	subject, err := in.normalizedSubject()
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, "report.add_measurements", func(ctx context.Context, tx *db.Tx) error {
		r, err := lockOrCreate(ctx, tx, team, in.Type, in.Platform, subject)
		if err != nil {
			return err
		}
		for _, size := range samples {
			text, err := encode(sample{Followers: &size.Followers, Engagement: size.Engagement})
			if err != nil {
				return err
			}
			if err := saveSample(ctx, tx, r.id, size.At, text[0]); err != nil {
				return err
			}
		}
		return nil
	})
}
