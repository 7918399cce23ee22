package post

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post/due"
	"pressroom.example/pressroom/internal/domain/post/posttime"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Submitter stores deliveries to networks in the caller's transaction. It records results that are known immediately
// with posts.RecordResult.
type Submitter interface {
	Submit(ctx context.Context, tx *db.Tx, posts *Service, o Submission) error
}

// Publication is the job that sends a post.
type Publication struct {
	job.Job
	AlreadySubmitted bool `json:"already_submitted" jsonschema:"True if the post was already submitted; it is not sent again."`
}

// PublicationRetry is the job that retries failed accounts, with the accounts that were skipped.
type PublicationRetry struct {
	job.Job
	Skipped []PublicationRetrySkipped `json:"skipped"`
}

// schedule schedules a draft.
func (s *Service) schedule(ctx context.Context, call operation.Call, in ScheduleInput) (operation.Response[Post], error) {
	at, err := posttime.Parse(call, in.ScheduledAt)
	if err != nil {
		return operation.Response[Post]{}, err
	}
	var p Record
	err = call.InTx(ctx, s.db, "post.schedule", func(ctx context.Context, tx *db.Tx) error {
		var err error
		if p, err = s.Lock(ctx, tx, call.TeamID, in.PostID); err != nil {
			return err
		}
		return s.ScheduleAt(ctx, tx, call, &p, at)
	})
	if err != nil {
		return operation.Response[Post]{}, err
	}
	out := s.answer(call, p)
	out.Notes = append(out.Notes, posttime.DistantNote(call, at)...)
	return out, nil
}

// ScheduleAt schedules a locked draft for a future time.
func (s *Service) ScheduleAt(ctx context.Context, tx *db.Tx, call operation.Call, p *Record, at time.Time) error {
	if err := p.checkSchedulable(); err != nil {
		return err
	}
	if err := s.checkContent(call, *p); err != nil {
		return err
	}
	if err := s.checkAllowance(ctx, tx, call, at); err != nil {
		return err
	}
	p.Status, p.ScheduledAt, p.Skipped = Scheduled, at, false
	if err := Update(ctx, tx, p); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, p.TeamID, auditlog.NewActor(call), "post.scheduled", p.ID,
		map[string]any{"at": db.Micros(at)})
}

func (p Record) checkSchedulable() error {
	if err := p.checkApproved(); err != nil {
		return err
	}
	switch {
	case p.IsTemplate:
		return apierr.BadState("recurring_template",
			"A template cannot be scheduled. Its series schedules the occurrences.")
	case p.Status == Scheduled:
		return apierr.BadState(string(p.Status),
			"The post is already scheduled. Change its scheduled_at instead (update_post, PATCH /posts/{id}).")
	case p.Status != Draft:
		return apierr.BadState(string(p.Status), "The post has already been submitted.")
	}
	return nil
}

// publish submits a post now. It does not send a submitted post again, but returns its last job.
func (s *Service) publish(ctx context.Context, call operation.Call,
	in PostInput) (operation.Response[Publication], error) {
	var out operation.Response[Publication]
	err := call.InTx(ctx, s.db, "post.publish", func(ctx context.Context, tx *db.Tx) error {
		p, err := s.Lock(ctx, tx, call.TeamID, in.PostID)
		if err != nil {
			return err
		}
		if p.Status != Draft && p.Status != Scheduled {
			last, err := job.Get(ctx, tx, call.TeamID, p.JobID)
			if err != nil {
				return err
			}
			out, err = s.publication(ctx, tx, call, p, last, true)
			return err
		}
		if err := s.checkPublishable(ctx, tx, call, p); err != nil {
			return err
		}
		if err := s.updateSeries(ctx, tx, &p); err != nil {
			return err
		}
		submitted, err := s.submit(ctx, tx, &p, p.Targets, auditlog.NewActor(call), "")
		if err != nil {
			return err
		}
		out, err = s.publication(ctx, tx, call, p, submitted, false)
		return err
	})
	return out, err
}

func (s *Service) publication(ctx context.Context, tx *db.Tx, call operation.Call, p Record, j job.Record,
	already bool) (operation.Response[Publication], error) {
	view, err := s.jobs.View(ctx, tx, call, j, job.GetInput{})
	return operation.Response[Publication]{Data: Publication{view.Data, already}, Untrusted: view.Untrusted,
		App: "/posts/" + p.ID, Location: job.Location(j.ID), Summary: summarizePublication(already, view.Data)}, err
}

func (s *Service) checkPublishable(ctx context.Context, tx *db.Tx, call operation.Call, p Record) error {
	if err := p.checkApproved(); err != nil {
		return err
	}
	if p.IsTemplate {
		return apierr.BadState("recurring_template", "A template cannot be published. Only its occurrences can.")
	}
	if err := s.checkContent(call, p); err != nil {
		return err
	}
	if p.Status == Scheduled && posttime.SameMonth(p.ScheduledAt, tx.Now(), call.Zone) {
		return nil // it already counts against this month's limit
	}
	return s.checkAllowance(ctx, tx, call, tx.Now())
}

// submit creates a job that sends a post to the given accounts. If rejection is set, nothing is sent, and every account
// fails with this error code.
func (s *Service) submit(ctx context.Context, tx *db.Tx, p *Record, targets []Target, actor auditlog.Actor,
	rejection string) (job.Record, error) {
	create := s.jobs.Start
	if actor == (auditlog.Actor{}) {
		create = s.jobs.Create // the limit on running jobs must not stop a due post
	}
	total := 0
	for _, t := range targets {
		total += p.PartCount() - t.PublishedPartCount()
	}
	onlyComments := total == 0
	if onlyComments {
		total = len(targets)
	}
	j, err := create(ctx, tx, job.Params{TeamID: p.TeamID, Type: job.SocialPost, Subject: p.ID, Total: total})
	if err != nil {
		return j, err
	}
	p.JobID = j.ID
	if !onlyComments {
		p.Status = Processing
	}
	if p.SubmittedAt.IsZero() {
		p.SubmittedAt = tx.Now()
	}
	if err := Update(ctx, tx, p); err != nil {
		return j, err
	}
	if err := auditlog.Record(ctx, tx, p.TeamID, actor, "post.handed_over", p.ID,
		map[string]any{"job": j.ID, "accounts": len(targets)}); err != nil {
		return j, err
	}
	return j, s.submitter.Submit(ctx, tx, s, Submission{Post: *p, Job: j, Targets: targets, RejectionCode: rejection})
}

// retry sends a post to its failed accounts again and lists the accounts that it skips.
func (s *Service) retry(
	ctx context.Context, call operation.Call, in RetryInput,
) (operation.Response[PublicationRetry], error) {
	var out operation.Response[PublicationRetry]
	err := call.InTx(ctx, s.db, "post.retry", func(ctx context.Context, tx *db.Tx) error {
		p, err := s.lockWithFamily(ctx, tx, call.TeamID, in.PostID)
		if err != nil {
			return err
		}
		if err := p.checkApproved(); err != nil {
			return err
		}
		if p.Status == Draft || p.Status == Scheduled {
			return apierr.BadState(string(p.Status), "The post has not been sent yet, so there is nothing to retry.")
		}
		if !p.ArchivedAt.IsZero() {
			return apierr.BadState("archived", "The post is archived. Restore it before you retry it.")
		}
		held, err := s.HeldByOthers(ctx, tx, p)
		if err != nil {
			return err
		}
		retryable, skipped, err := s.splitRetryable(p, in.AccountIDs, held, tx.Now())
		if err != nil {
			return err
		}
		if err := s.checkTargetContent(call, p, retryable); err != nil {
			return err
		}
		j, err := s.resubmit(ctx, tx, call, &p, retryable)
		if err != nil {
			return err
		}
		view, err := s.jobs.View(ctx, tx, call, j, job.GetInput{})
		out = operation.Response[PublicationRetry]{Data: PublicationRetry{view.Data, skipped}, Untrusted: view.Untrusted,
			App: "/posts/" +
				p.ID, Location: job.Location(j.ID), Summary: summarizeRetry(len(retryable), skipped, view.Data)}
		return err
	})
	return out, err
}

// splitRetryable returns the accounts of a post that may be retried, and the accounts that are skipped. It considers
// the accounts with the given IDs, or all accounts if ids is empty. held is the result of HeldByOthers.
func (s *Service) splitRetryable(p Record, ids []int64, held map[int64]string, now time.Time) ([]Target,
	[]PublicationRetrySkipped, error) {
	for _, id := range ids {
		if !slices.ContainsFunc(p.Targets, func(t Target) bool { return t.AccountID == id }) {
			return nil, nil, apierr.ItemNotFound().With("argument", "account_ids")
		}
	}
	retryable, skipped := []Target{}, []PublicationRetrySkipped{}
	for _, t := range p.Targets {
		if len(ids) > 0 && !slices.Contains(ids, t.AccountID) {
			continue
		}
		reason, ok := s.limits.canRetry(t, held[t.AccountID] != "", now)
		if t.State == TargetPublished {
			reason, ok = s.limits.canRetryComment(t, now)
		}
		if !ok {
			skipped = append(skipped, PublicationRetrySkipped{t.AccountID, reason})
			continue
		}
		retryable = append(retryable, t)
	}
	return retryable, skipped, nil
}

// resubmit sends a post to accounts again and returns the job. If there are no accounts, it returns the post's last
// job.
func (s *Service) resubmit(ctx context.Context, tx *db.Tx, call operation.Call, p *Record,
	retryable []Target) (job.Record, error) {
	if len(retryable) == 0 {
		return job.Get(ctx, tx, call.TeamID, p.JobID)
	}
	for i, t := range retryable {
		t = t.withRetry(tx.Now())
		if err := updateTarget(ctx, tx, p.ID, t); err != nil {
			return job.Record{}, err
		}
		retryable[i] = t
	}
	return s.submit(ctx, tx, p, retryable, auditlog.NewActor(call), "")
}

// Release submits a due post. It does nothing if the post was canceled, moved or submitted concurrently, or if its team
// may not publish now. A post fails without being sent if it lacks approval, breaks a network's rules, or is an
// occurrence that exceeds the plan. An occurrence that is too late is skipped.
func (s *Service) Release(ctx context.Context, id string) error {
	return s.db.InTx(ctx, "post.release", func(ctx context.Context, tx *db.Tx) error {
		var teamID int64
		if err := tx.QueryRow(ctx, `SELECT team_id FROM posts WHERE id = ?`, id).Scan(&teamID); err != nil {
			return fmt.Errorf("reading a due post: %w", err)
		}
		p, err := s.Lock(ctx, tx, teamID, id)
		if err != nil {
			return err
		}
		if p.Status != Scheduled || p.IsTemplate || p.ScheduledAt.After(tx.Now()) {
			return nil
		}
		var allowed bool
		if err := tx.QueryRow(ctx, `SELECT `+due.MayPublishSQL+` FROM posts WHERE id = ?`,
			id).Scan(&allowed); err != nil {
			return fmt.Errorf("checking whether a due post may be published: %w", err)
		}
		if !allowed {
			return nil
		}
		if p.isTooLate(tx.Now()) {
			return s.skipLateOccurrence(ctx, tx, &p)
		}
		rejection, err := s.rejectionWhenDue(ctx, tx, p)
		if err != nil {
			return err
		}
		_, err = s.submit(ctx, tx, &p, p.Targets, auditlog.Actor{}, rejection)
		return err
	})
}

// rejectionWhenDue returns the error code that a due post fails with, or "" if it can be sent.
func (s *Service) rejectionWhenDue(ctx context.Context, q db.Querier, p Record) (string, error) {
	if p.needsApproval() {
		return CodeMissedApproval, nil
	}
	var language string
	if err := q.QueryRow(ctx, `SELECT content_language FROM teams WHERE id = ?`, p.TeamID).Scan(&language); err != nil {
		return "", fmt.Errorf("reading the team of a due post: %w", err)
	}
	if s.Preflight(p, language).Rejected {
		return "preflight_blocked", nil
	}
	if p.OccursAt.IsZero() {
		return "", nil // it was counted for its month when it was scheduled
	}
	if left, err := s.postsLeftForOccurrence(ctx, q, p); err != nil || left != 0 {
		return "", err
	}
	return "plan_limit_reached", nil
}
