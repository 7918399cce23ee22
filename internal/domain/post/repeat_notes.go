package post

import (
	"context"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
)

// replayNotes returns notes for a call that is repeated with its Idempotency-Key if the post has changed since
// the first response.
func (s *Service) replayNotes(ctx context.Context, call operation.Call, kept Post) ([]string, error) {
	const first = "This is the response to the first call with this Idempotency-Key. "
	p, err := s.read(ctx, s.db, call.TeamID, kept.ID, "")
	switch {
	case apierr.Is(err, apierr.NotFound):
		return []string{first + "The post has since been deleted."}, nil
	case err != nil:
		return nil, err
	}
	at := call.MomentOrNil(p.ScheduledAt)
	sameTime := (at == nil) == (kept.ScheduledAt == nil) && (at == nil || at.UTC == kept.ScheduledAt.UTC)
	if p.Status == kept.Status && sameTime {
		return nil, nil
	}
	note := first + "The post has changed since then: its status is now " + string(p.Status)
	if p.Status == Scheduled {
		note += ", for " + at.Team
	}
	return []string{note + "."}, nil
}

func (s *Service) replayChangeNotes(ctx context.Context, call operation.Call, kept PostChange) ([]string, error) {
	return s.replayNotes(ctx, call, kept.Post)
}
