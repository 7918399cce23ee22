package approval

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/post"
	"pressroom/internal/platform/db"
)

// Why an approved post was not scheduled, besides the codes of errors.
const (
	NoTime     = "no_time"     // it had no time
	TimePassed = "time_passed" // its time had passed
	NotAllowed = "not_allowed" // the person who sent it may not schedule any longer
)

// scheduleOnApproval sets whether the current version is scheduled, in the name of a person, once it is approved.
func scheduleOnApproval(ctx context.Context, tx *db.Tx, p post.Record, person int64, on bool) error {
	if !on {
		person = 0
	}
	_, err := tx.Exec(ctx, `UPDATE post_approvals SET schedule_as = ? WHERE post_id = ? AND round = ?`, person, p.ID,
		p.Round)
	if err != nil {
		return fmt.Errorf("setting whether a post is scheduled on approval: %w", err)
	}
	return nil
}

// scheduler is as whom a version is scheduled once it is approved.
type scheduler struct {
	on      bool
	call    operation.Call
	refused bool // the person may not schedule any longer
}

// schedulerOf returns as whom a version of a post is scheduled once it is approved.
func (s *Service) schedulerOf(ctx context.Context, postID string, round int64) (scheduler, error) {
	var person int64
	err := s.DB.QueryRow(ctx, `SELECT schedule_as FROM post_approvals WHERE post_id = ? AND round = ?`, postID,
		round).Scan(&person)
	if errors.Is(err, sql.ErrNoRows) || err == nil && person == 0 {
		return scheduler{}, nil
	}
	if err != nil {
		return scheduler{}, fmt.Errorf("reading as whom a post is scheduled: %w", err)
	}
	call, err := s.Posts.CallAs(ctx, person, postID, access.Publish)
	if apierr.Is(err, apierr.NotFound) {
		return scheduler{on: true, refused: true}, nil
	}
	return scheduler{on: true, call: call}, err
}

// schedule schedules a post that was just approved, or records why that is not possible.
func (s *Service) schedule(ctx context.Context, tx *db.Tx, by scheduler, p *post.Record) error {
	if !by.on || p.Status != post.Draft {
		return nil
	}
	var reason string
	switch {
	case by.refused:
		reason = NotAllowed
	case p.ScheduledAt.IsZero():
		reason = NoTime
	case !p.ScheduledAt.After(tx.Now()):
		reason = TimePassed
	default:
		draft := *p
		err := s.Posts.ScheduleAt(ctx, tx, by.call, p, p.ScheduledAt)
		if err == nil {
			return nil
		}
		found := apierr.Of(err)
		if found.IsServerError() {
			return err
		}
		*p, reason = draft, string(found.Code)
	}
	_, err := tx.Exec(ctx, `UPDATE post_approvals SET schedule_error = ? WHERE post_id = ? AND round = ?`, reason, p.ID,
		p.Round)
	if err != nil {
		return fmt.Errorf("recording why a post was not scheduled: %w", err)
	}
	return nil
}
