package approval

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/db"
)

// Reasons why an approved post was not scheduled, in addition to the codes of package apierr.
const (
	NoTime     = "no_time"     // the post had no time
	TimePassed = "time_passed" // the time was in the past
	NotAllowed = "not_allowed" // the person who requested approval may no longer publish
)

// scheduleOnApproval sets whether the current version is scheduled on behalf of a person when it is approved.
func scheduleOnApproval(ctx context.Context, tx *db.Tx, p post.Record, person int64, enabled bool) error {
	if !enabled {
		person = 0
	}
	_, err := tx.Exec(ctx, `UPDATE post_approvals SET schedule_as = ? WHERE post_id = ? AND round = ?`, person, p.ID,
		p.Round)
	if err != nil {
		return fmt.Errorf("setting whether a post is scheduled on approval: %w", err)
	}
	return nil
}

// approvalScheduler is the person on whose behalf an approved version is scheduled.
type approvalScheduler struct {
	enabled  bool
	call     operation.Call
	rejected bool // whether the person may no longer publish
}

// findScheduler returns the person on whose behalf a version of a post is scheduled when it is approved. It returns the
// zero approvalScheduler if the version should not be scheduled.
func (s *Service) findScheduler(ctx context.Context, postID string, round int64) (approvalScheduler, error) {
	var person int64
	err := s.DB.QueryRow(ctx, `SELECT schedule_as FROM post_approvals WHERE post_id = ? AND round = ?`, postID,
		round).Scan(&person)
	if errors.Is(err, sql.ErrNoRows) || err == nil && person == 0 {
		return approvalScheduler{}, nil
	}
	if err != nil {
		return approvalScheduler{}, fmt.Errorf("reading who schedules an approved post: %w", err)
	}
	call, err := s.Posts.CallAs(ctx, person, postID, access.Publish)
	if apierr.Is(err, apierr.NotFound) {
		return approvalScheduler{enabled: true, rejected: true}, nil
	}
	return approvalScheduler{enabled: true, call: call}, err
}

// schedule schedules an approved draft or records why that is not possible.
func (s *Service) schedule(ctx context.Context, tx *db.Tx, scheduler approvalScheduler, p *post.Record) error {
	if !scheduler.enabled || p.Status != post.Draft {
		return nil
	}
	var reason string
	switch {
	case scheduler.rejected:
		reason = NotAllowed
	case p.ScheduledAt.IsZero():
		reason = NoTime
	case !p.ScheduledAt.After(tx.Now()):
		reason = TimePassed
	default:
		draft := *p
		err := s.Posts.ScheduleAt(ctx, tx, scheduler.call, p, p.ScheduledAt)
		if err == nil {
			return nil
		}
		apiErr := apierr.FromError(err)
		if apiErr.IsServerError() {
			return err
		}
		*p, reason = draft, string(apiErr.Code)
	}
	_, err := tx.Exec(ctx, `UPDATE post_approvals SET schedule_error = ? WHERE post_id = ? AND round = ?`, reason, p.ID,
		p.Round)
	if err != nil {
		return fmt.Errorf("recording why a post was not scheduled: %w", err)
	}
	return nil
}
