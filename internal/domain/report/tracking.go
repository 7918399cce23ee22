package report

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// TrackInput is the input of set_report_tracking.
type TrackInput struct {
	Ref

	Enabled       bool `json:"enabled" jsonschema:"Whether tracking is on."`
	FrequencyDays int  `json:"frequency_days,omitempty" enum:"1|3|7" default:"3" jsonschema:"Days between refreshes; 3 if omitted."`
}

// ReportTracking describes whether and how often a report is refreshed automatically.
type ReportTracking struct {
	Enabled           bool             `json:"enabled"`
	FrequencyDays     int              `json:"frequency_days"`
	NextRefreshAt     *teamtime.Moment `json:"next_refresh_at,omitempty" jsonschema:"Omitted while tracking is off."`
	CreditsPerRefresh int64            `json:"credits_per_refresh" jsonschema:"Price of each automatic refresh."`
}

const day = 24 * time.Hour

// trackPrice returns the price of changing the tracking of a report. Turning on tracking of a hashtag report costs a
// refresh. All other changes are free. trackPrice locks the report's row.
func (s *Service) trackPrice(ctx context.Context, call operation.Call, in TrackInput) (int64, error) {
	var cost int64
	err := call.InTx(ctx, s.db, "report.trackable", func(ctx context.Context, tx *db.Tx) error {
		r, err := s.lockForTracking(ctx, tx, call, in)
		if err == nil && r.enablesTracking(in) && r.kind == Hashtag {
			cost = s.refreshCost(r.kind)
		}
		return err
	})
	return cost, err
}

// enablesTracking reports whether the input turns tracking on.
func (r record) enablesTracking(in TrackInput) bool { return in.Enabled && !r.tracked }

// trackingStartsRefresh reports whether the call starts a refresh immediately, because it turns on tracking of a
// hashtag report. It reports false for a missing report, which is rejected later.
func (s *Service) trackingStartsRefresh(ctx context.Context, call operation.Call, in TrackInput) (bool, error) {
	if !in.Enabled || in.Type != Hashtag || s.refreshCost(Hashtag) == 0 {
		return false, nil
	}
	r, err := find(ctx, call.Reader(s.db), call.TeamID, in.Type, in.ID, db.Micros(call.Now))
	if apierr.Is(err, apierr.NotFound) {
		return false, nil
	}
	return err == nil && r.enablesTracking(in), err
}

// lockForTracking locks and returns a report. It returns an error if the requested change to its tracking is not
// allowed.
func (s *Service) lockForTracking(ctx context.Context, tx *db.Tx, call operation.Call, in TrackInput) (record, error) {
	r, err := lock(ctx, tx, call.TeamID, in.Type, in.ID)
	if err != nil || !r.enablesTracking(in) {
		return r, err
	}
	if r.status != Ready {
		return r, apierr.BadState(string(r.status), "Only a report that is ready can be tracked.")
	}
	p, _ := s.Catalog.Plan(call.Plan) // if the plan was removed, p allows no tracking
	if p.TrackedReports == plan.Unlimited {
		return r, nil
	}
	trackedCount, err := s.countTracked(ctx, tx, r.team)
	if err == nil && trackedCount >= p.TrackedReports {
		err = apierr.New(apierr.PlanLimitReached, "The team has reached the limit of tracked reports of its plan. "+
			"Turn off tracking of another report first.").With("limit", "tracked_reports")
	}
	return r, err
}

// countTracked returns the number of a team's tracked reports. It locks the team's wallet, so that concurrent calls
// cannot exceed the limit.
func (s *Service) countTracked(ctx context.Context, tx *db.Tx, team int64) (int64, error) {
	if err := s.Credits.Lock(ctx, tx, team); err != nil {
		return 0, err
	}
	var n int64
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM reports WHERE team_id = ? AND tracked = 1`, team).
		Scan(&n); err != nil {
		return 0, fmt.Errorf("counting the tracked reports: %w", err)
	}
	return n, nil
}

// track changes the tracking of a report. A repeated call changes and charges nothing. The last requested frequency is
// stored, even if tracking is off.
func (s *Service) track(
	ctx context.Context, call operation.Call, in TrackInput,
) (operation.Response[ReportTracking], error) {
	var out operation.Response[ReportTracking]
	err := call.InTx(ctx, s.db, "report.track", func(ctx context.Context, tx *db.Tx) error {
		r, err := s.lockForTracking(ctx, tx, call, in)
		if err != nil {
			return err
		}
		switch {
		case r.enablesTracking(in):
			err = s.enableTracking(ctx, tx, &r, call, in.FrequencyDays)
		case in.Enabled && r.frequency != in.FrequencyDays:
			err = s.changeFrequency(ctx, tx, &r, in.FrequencyDays)
		case !in.Enabled && r.tracked:
			r.frequency = in.FrequencyDays
			err = s.disableTracking(ctx, tx, &r, "")
		case r.frequency != in.FrequencyDays:
			r.frequency = in.FrequencyDays
			err = r.saveTracking(ctx, tx)
		default:
			out = s.trackingResponse(call, r)
			return nil
		}
		if err != nil {
			return err
		}
		out = s.trackingResponse(call, r)
		return auditlog.Record(ctx, tx, r.team, auditlog.NewActor(call), "report.tracked", r.id,
			map[string]any{"enabled": r.tracked, "frequency_days": r.frequency})
	})
	return out, err
}

// trackingResponse returns the response to a call that changes tracking.
func (s *Service) trackingResponse(call operation.Call, r record) operation.Response[ReportTracking] {
	current := s.tracking(call, r)
	return operation.Response[ReportTracking]{Data: current, App: "/reports/" + r.id, Summary: current.summary()}
}

// summary describes the tracking and what it costs.
func (t ReportTracking) summary() string {
	if !t.Enabled {
		return fmt.Sprintf("tracking is off. Nothing is refreshed or charged automatically. The frequency remains %s.",
			formatInterval(t.FrequencyDays))
	}
	next := ""
	if t.NextRefreshAt != nil {
		next = " The next refresh is at " + t.NextRefreshAt.Team + "."
	}
	return fmt.Sprintf("tracking is on. The report is refreshed automatically %s for %d credits each.%s",
		formatInterval(t.FrequencyDays), t.CreditsPerRefresh, next)
}

func formatInterval(days int) string {
	if days == 1 {
		return "every day"
	}
	return fmt.Sprintf("every %d days", days)
}

func (s *Service) tracking(call operation.Call, r record) ReportTracking {
	return ReportTracking{Enabled: r.tracked, FrequencyDays: r.frequency, NextRefreshAt: call.MomentOrNil(r.nextRefresh),
		CreditsPerRefresh: s.refreshCost(r.kind)}
}

// enableTracking turns tracking on. For a hashtag report, the first refresh is charged and started immediately. For a
// profile report, one refresh counts against the daily credit limits, and each refresh is charged when it runs.
func (s *Service) enableTracking(ctx context.Context, tx *db.Tx, r *record, call operation.Call, frequency int) error {
	r.tracked, r.frequency, r.nextRefresh, r.trackedBy, r.trackedKey, r.trackingEnded = true, frequency,
		call.Now.Add(time.Duration(frequency)*day), call.PersonID, call.KeyID, ""
	if err := r.saveTracking(ctx, tx); err != nil {
		return err
	}
	if r.kind == Profile {
		return s.Credits.Hold(ctx, tx, call, r.id, s.refreshCost(r.kind))
	}
	return s.refreshNow(ctx, tx, *r, call)
}

// refreshNow starts the refresh that the call reserved credits for. If a job of the report is already running,
// refreshNow does not start another one, but charges the credits.
func (s *Service) refreshNow(ctx context.Context, tx *db.Tx, r record, call operation.Call) error {
	if call.Reservation == 0 {
		return nil // refreshes are free
	}
	runningJob, err := s.runningJob(ctx, tx, r)
	if err != nil {
		return err
	}
	if runningJob.ID != "" {
		_, err := s.Credits.Charge(ctx, tx, call.Reservation)
		return err
	}
	j, err := s.Jobs.Create(ctx, tx, job.Params{TeamID: r.team, Type: r.jobType(), Subject: r.id, Total: 1,
		Reservation: call.Reservation})
	if err != nil {
		return err
	}
	return s.submit(ctx, tx, r, j.ID, purposeAutomatic)
}

// changeFrequency sets the number of days between refreshes. The next refresh is due that many days after the last one,
// or immediately if that time has passed.
func (s *Service) changeFrequency(ctx context.Context, tx *db.Tx, r *record, frequency int) error {
	r.frequency, r.nextRefresh = frequency, r.refreshedAt.Add(time.Duration(frequency)*day)
	if r.nextRefresh.Before(tx.Now()) {
		r.nextRefresh = tx.Now()
	}
	return r.saveTracking(ctx, tx)
}

// disableTracking turns tracking off and releases the hold on the daily credit limits. reason is empty unless tracking
// ends automatically.
func (s *Service) disableTracking(ctx context.Context, tx *db.Tx, r *record, reason string) error {
	r.tracked, r.nextRefresh, r.trackingEnded = false, time.Time{}, reason
	if err := r.saveTracking(ctx, tx); err != nil {
		return err
	}
	return s.Credits.Release(ctx, tx, r.id)
}

// DisableTracking turns off tracking of reports and returns how many of them were tracked. The caller's role must have
// the capability spend. It works even while spending is paused, because people must always be able to stop recurring
// charges.
func (s *Service) DisableTracking(ctx context.Context, call operation.Call, reports ...Ref) (int, error) {
	if !slices.Contains(access.RoleCapabilities(call.Role), access.Spend) {
		return 0, call.Require(access.Spend)
	}
	disabled := 0
	err := s.db.InTx(ctx, "report.end_tracking", func(ctx context.Context, tx *db.Tx) error {
		disabled = 0
		for _, ref := range reports {
			r, err := lock(ctx, tx, call.TeamID, ref.Type, ref.ID)
			if err != nil {
				return err
			}
			if !r.tracked {
				continue
			}
			if err := s.disableTracking(ctx, tx, &r, ""); err != nil {
				return err
			}
			if err := auditlog.Record(ctx, tx, r.team, auditlog.NewActor(call), "report.tracked", r.id,
				map[string]any{"enabled": false, "frequency_days": r.frequency}); err != nil {
				return err
			}
			disabled++
		}
		return nil
	})
	return disabled, err
}

func (r record) saveTracking(ctx context.Context, tx *db.Tx) error {
	enabled := 0
	if r.tracked {
		enabled = 1
	}
	_, err := tx.Exec(ctx,
		`UPDATE reports
		SET tracked = ?, frequency_days = ?, next_refresh_at = ?, tracked_by = ?, tracked_key = ?, tracking_ended = ?
		WHERE id = ?`,
		enabled, r.frequency, db.Micros(r.nextRefresh), r.trackedBy, r.trackedKey, r.trackingEnded, r.id)
	if err != nil {
		return fmt.Errorf("storing the tracking of report %s: %w", r.id, err)
	}
	return nil
}
