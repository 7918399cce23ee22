package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
)

// purpose is the reason why a job was started.
type purpose string

const (
	purposeCreate    purpose = "make"
	purposeRefresh   purpose = "refresh"
	purposeAutomatic purpose = "automatic"
)

const (
	maxAttempts = 5                // maximum number of runs of a job, not counting waits for the provider
	maxWait     = 30 * time.Second // longest wait for an unavailable provider
	defaultWait = time.Second      // wait if the provider does not specify a delay
	maxWaits    = 2                // maximum number of waits per job
)

// task is the work of a job.
type task struct {
	record

	purpose   purpose
	zone      *time.Location
	retention time.Duration // retention period of the plan
}

// run executes a report job. It fetches the metrics, analyzes them, and stores the findings in the transaction that
// settles the charge and ends the job. It can be restarted at any time.
func (s *Service) run(ctx context.Context, j job.LeasedJob) error {
	t, err := s.readTask(ctx, j)
	if err != nil {
		return err
	}
	if t.id == "" || j.Epoch > maxAttempts+maxWaits {
		return s.fail(ctx, j, t, "internal_error")
	}
	if err := s.db.InTx(ctx, "report.working", func(ctx context.Context, tx *db.Tx) error {
		return job.Advance(ctx, tx, j.ID, 0)
	}); err != nil {
		return err
	}
	ctx, end := s.Limiter.Begin(ctx)
	defer end()
	data, err := s.fetch(ctx, t)
	if err != nil {
		return s.handleSourceError(ctx, j, t, err)
	}
	return s.analyzeAndSave(ctx, j, t, data)
}

// analyzeAndSave analyzes the fetched metrics and stores the findings.
func (s *Service) analyzeAndSave(ctx context.Context, j job.LeasedJob, t task, data sourceData) error {
	if err := provider.Acquire(ctx); err != nil {
		return fmt.Errorf("waiting to analyze: %w", err)
	}
	m, err := s.analyze(ctx, t, data)
	if err != nil {
		return err
	}
	if err := s.save(ctx, j, t, m); err != nil {
		return err
	}
	s.observe(ctx, t, data)
	return nil
}

// observe passes the metrics to the observer. It only logs an error, which does not affect the report.
func (s *Service) observe(ctx context.Context, t task, data sourceData) {
	if s.Observer == nil {
		return
	}
	var err error
	if t.kind == Hashtag {
		err = s.Observer.Hashtag(ctx, t.platform, data.hashtag)
	} else {
		err = s.Observer.Posts(ctx, t.platform, data.profile.Posts)
	}
	if err != nil && ctx.Err() == nil {
		s.Log.WarnContext(ctx, "storing hashtag statistics of a report failed", "report", t.id, "error", err)
	}
}

// readTask returns the task of a job, or an empty task if its report was deleted.
func (s *Service) readTask(ctx context.Context, j job.LeasedJob) (task, error) {
	var t task
	rec, err := find(ctx, s.db, j.TeamID, reportKind(j.Type), j.Subject, 0)
	if err != nil {
		return t, ignoreMissing(err)
	}
	var zone string
	err = s.db.QueryRow(ctx, `SELECT j.purpose, t.timezone FROM report_jobs j, teams t WHERE j.job_id = ? AND t.id = ?`,
		j.ID, j.TeamID).Scan(&t.purpose, &zone)
	if err != nil {
		return t, fmt.Errorf("reading the purpose of job %s: %w", j.ID, err)
	}
	if t.zone, err = time.LoadLocation(zone); err != nil {
		return t, fmt.Errorf("reading the time zone of team %d: %w", j.TeamID, err)
	}
	plan, _, err := s.readPlan(ctx, s.db, j.TeamID)
	t.record, t.retention = rec, retentionFor(plan.AnalyticsRetentionDays)
	return t, err
}

// maxRetention is the retention of unlimited plans, and the maximum age of requested posts.
const maxRetention = 730 * day

// retentionFor returns how long reports are kept if the plan keeps analytics for the given number of days. A negative
// number means unlimited. The result is at least one day.
func retentionFor(days int64) time.Duration {
	if days < 0 || days > int64(maxRetention/day) {
		return maxRetention
	}
	return max(day, time.Duration(days)*day)
}

func reportKind(t job.Type) string {
	if t == job.HashtagReport {
		return Hashtag
	}
	return Profile
}

// sourceData holds what a provider returned for a profile or a hashtag. The other field is empty.
type sourceData struct {
	profile provider.ProfileMetrics
	hashtag provider.HashtagMetrics
}

func (s *Service) fetch(ctx context.Context, t task) (sourceData, error) {
	var data sourceData
	if s.Source == nil {
		return data, provider.ErrNotOffered
	}
	var err error
	if t.kind == Hashtag {
		data.hashtag, err = s.Source.Hashtag(ctx, provider.HashtagQuery{Platform: t.platform, Hashtag: t.subject,
			PostLimit: s.PostLimit})
		return data, err
	}
	data.profile, err = s.Source.Profile(ctx, provider.ProfileQuery{Platform: t.platform, Username: t.subject,
		Since: s.db.Now().Add(-maxRetention), PostLimit: s.PostLimit})
	return data, err
}

// retryDelay returns how long to wait for an unavailable provider. u may be nil.
func retryDelay(u *provider.UnavailableError) time.Duration {
	if u == nil || u.After <= 0 {
		return defaultWait
	}
	return u.After
}

// handleSourceError fails a job after a provider error. If the provider is unavailable only for a short time, it
// postpones the job instead.
func (s *Service) handleSourceError(ctx context.Context, j job.LeasedJob, t task, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("fetching metrics: %w", err)
	}
	u, unavailable := errors.AsType[*provider.UnavailableError](err)
	if delay := retryDelay(u); unavailable && delay <= maxWait && j.Epoch <= maxWaits {
		return s.db.InTx(ctx, "report.rest", func(ctx context.Context, tx *db.Tx) error {
			return j.Postpone(ctx, tx, tx.Now().Add(delay))
		})
	}
	code := "source_unavailable"
	switch {
	case errors.Is(err, provider.ErrNotFound) && t.kind == Hashtag:
		code = "nothing_found"
	case errors.Is(err, provider.ErrNotFound):
		code = "profile_not_found"
	case errors.Is(err, provider.ErrPrivate):
		code = "profile_private"
	case errors.Is(err, provider.ErrNotOffered):
		code = "not_offered"
	default:
		s.Log.WarnContext(ctx, "a provider of public metrics failed", "job", j.ID, "error", err)
	}
	return s.fail(ctx, j, t, code)
}

// fail ends a job with an error code and refunds its credits. A report that was already created keeps its findings.
func (s *Service) fail(ctx context.Context, j job.LeasedJob, t task, code string) error {
	return s.db.InTx(ctx, "report.failed", func(ctx context.Context, tx *db.Tx) error {
		if err := j.Lock(ctx, tx); err != nil {
			return err
		}
		if t.purpose == purposeCreate {
			if _, err := tx.Exec(ctx, `UPDATE reports SET status = ? WHERE id = ? AND status = ?`, string(Failed), t.id,
				string(Pending)); err != nil {
				return fmt.Errorf("storing the failure of report %s: %w", t.id, err)
			}
		}
		if t.purpose == purposeRefresh { // the refresh may be repeated immediately
			if _, err := tx.Exec(ctx, `DELETE FROM report_refreshes WHERE report_id = ?`, t.id); err != nil {
				return fmt.Errorf("deleting refreshes of report %s: %w", t.id, err)
			}
		}
		if err := s.settle(ctx, tx, j, s.Credits.Refund); err != nil {
			return err
		}
		return j.Finish(ctx, tx, job.Failed, code)
	})
}

// settle calls chargeOrRefund for the job's reservation, if it has one.
func (s *Service) settle(ctx context.Context, tx *db.Tx, j job.LeasedJob, chargeOrRefund func(context.Context, *db.Tx,
	int64) (bool, error)) error {
	if j.Reservation == 0 {
		return nil
	}
	_, err := chargeOrRefund(ctx, tx, j.Reservation)
	return err
}

// measurement is what a job stores in a report.
type measurement struct {
	measuredAt    time.Time
	account       account
	analysis      any
	notes         []string
	sample        any
	posts         map[string][]provider.Post // by list
	replacesPosts bool                       // whether posts replaces all stored posts
}

// save stores the result of a job in the transaction that charges and ends it.
func (s *Service) save(ctx context.Context, j job.LeasedJob, t task, m measurement) error {
	texts, err := encode(m.account, m.analysis, m.notes, m.sample)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, "report.measured", func(ctx context.Context, tx *db.Tx) error {
		if err := j.Lock(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx,
			`UPDATE reports
			SET status = ?, account = ?, analysis = ?, notes = ?, measured_at = ?, refreshed_at = ?, available_until = ?
			WHERE id = ?`,
			string(Ready), texts[0], texts[1], texts[2], db.Micros(m.measuredAt), db.Micros(tx.Now()),
			db.Micros(tx.Now().Add(t.retention)), t.id)
		if err != nil {
			return fmt.Errorf("storing report %s: %w", t.id, err)
		}
		if err := savePosts(ctx, tx, t.id, m); err != nil {
			return err
		}
		if err := saveSample(ctx, tx, t.id, m.measuredAt, texts[3]); err != nil {
			return err
		}
		if err := s.settle(ctx, tx, j, s.Credits.Charge); err != nil {
			return err
		}
		return j.Finish(ctx, tx, job.Succeeded, "")
	})
}

func saveSample(ctx context.Context, tx *db.Tx, report string, at time.Time, text string) error {
	if _, err := tx.Exec(ctx, `INSERT INTO report_samples (report_id, measured_at, sample) VALUES (?, ?, ?)
		ON CONFLICT (report_id, measured_at) DO UPDATE SET sample = excluded.sample`, report, db.Micros(at), text); err != nil {
		return fmt.Errorf("storing a sample of report %s: %w", report, err)
	}
	return nil
}

func encode(values ...any) ([]string, error) {
	out := make([]string, len(values))
	for i, v := range values {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("encoding the findings of a report: %w", err)
		}
		out[i] = string(raw)
	}
	return out, nil
}
