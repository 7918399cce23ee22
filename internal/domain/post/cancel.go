package post

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// cancel turns a scheduled post into a draft without a time. Canceling the template or an occurrence of a series pauses
// the series.
func (s *Service) cancel(ctx context.Context, call operation.Call, in PostInput) (operation.Response[Post], error) {
	var p Record
	err := call.InTx(ctx, s.db, "post.cancel", func(ctx context.Context, tx *db.Tx) error {
		template, err := s.lockTemplate(ctx, tx, call.TeamID, in.PostID)
		if err != nil {
			return err
		}
		if p, err = s.Lock(ctx, tx, call.TeamID, in.PostID); err != nil || p.Status == Draft {
			return err
		}
		if err := s.unschedule(ctx, tx, call, &p); err != nil || template == nil {
			return err
		}
		err = s.pauseSeries(ctx, tx, call, template, "series.paused", map[string]any{"series": p.SeriesID,
			"occurrence": p.ID})
		p.Series = template.Series
		return err
	})
	if err != nil {
		return operation.Response[Post]{}, err
	}
	out := s.answer(call, p)
	out.Notes = append(out.Notes, p.pausedNote()...)
	return out, nil
}

// Skip cancels one occurrence of a series. The series continues with the next occurrence. Skip returns not_found if the
// person may not write in the post's team, and wrong_state if the post is not a scheduled occurrence.
func (s *Service) Skip(ctx context.Context, person int64, postID string) (Record, error) {
	return s.UpdateAs(ctx, person, postID, access.Write, "post.skip", func(ctx context.Context, tx *db.Tx,
		call operation.Call, p *Record) error {
		if p.OccursAt.IsZero() || p.Status == Draft {
			return apierr.BadState("not_recurring",
				"This post is not a scheduled post of a series, so there is nothing to skip.")
		}
		if err := s.updateSeries(ctx, tx, p); err != nil {
			return err
		}
		return s.unschedule(ctx, tx, call, p)
	})
}

// unschedule turns a scheduled post into a draft. A template keeps its time, because the series starts at that time.
func (s *Service) unschedule(ctx context.Context, tx *db.Tx, call operation.Call, p *Record) error {
	if p.Status != Scheduled {
		return apierr.BadState(string(p.Status),
			"Only a scheduled post can be canceled; this one has already been submitted.")
	}
	if p.IsTemplate {
		return s.pauseSeries(ctx, tx, call, p, "post.cancelled", nil)
	}
	detail := map[string]any{"at": db.Micros(p.ScheduledAt)}
	p.Status, p.ScheduledAt, p.Skipped = Draft, time.Time{}, !p.OccursAt.IsZero()
	if err := Update(ctx, tx, p); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, p.TeamID, auditlog.NewActor(call), "post.cancelled", p.ID, detail)
}

// lockTemplate locks and returns the template of the running series that an occurrence belongs to. It returns nil for
// any other post. The template must be locked before the occurrence, in the same order as when occurrences are created.
func (s *Service) lockTemplate(ctx context.Context, tx *db.Tx, team int64, id string) (*Record, error) {
	var template string
	err := tx.QueryRow(ctx, `SELECT r.template_id FROM posts p JOIN post_series r ON r.id = p.series_id
		WHERE p.id = ? AND p.team_id = ? AND p.occurs_at > 0`, id, team).Scan(&template)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // most posts do not belong to a series
	}
	if err != nil {
		return nil, fmt.Errorf("reading the template of an occurrence: %w", err)
	}
	p, err := s.Lock(ctx, tx, team, template)
	switch {
	case apierr.Is(err, apierr.NotFound) || err == nil && (!p.IsTemplate || p.Status != Scheduled):
		return nil, nil //nolint:nilnil // the series has ended or is paused
	case err != nil:
		return nil, err
	}
	return &p, nil
}

// pauseSeries pauses the series of a template and records an audit event of the given kind.
func (s *Service) pauseSeries(ctx context.Context, tx *db.Tx, call operation.Call, template *Record, kind string,
	detail map[string]any) error {
	if err := s.pause(ctx, tx, template); err != nil {
		return err
	}
	template.Status = Draft
	if err := Update(ctx, tx, template); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, template.TeamID, auditlog.NewActor(call), kind, template.ID, detail)
}

// pausedNote returns a note if canceling the post paused its series.
func (p Record) pausedNote() []string {
	if p.SeriesID == 0 || !p.Series.Paused {
		return nil
	}
	return []string{"The series is paused. None of its posts goes out until somebody resumes it in the app, on the " +
		"page of its template " +
		"(recurrence.template_id). To cancel only one post, skip it in the app."}
}
