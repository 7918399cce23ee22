package post

import (
	"context"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
)

// replayNotes tells a client that repeats a call with its Idempotency-Key if the post differs by now from the first
// answer, which the repeat gets.
func (s *Service) replayNotes(ctx context.Context, call operation.Call, kept Full) ([]string, error) {
	const first = "This is the answer to the first call with this Idempotency-Key. "
	p, err := s.read(ctx, s.db, call.TeamID, kept.ID, "")
	switch {
	case apierr.Is(err, apierr.NotFound):
		return []string{first + "The post was deleted since."}, nil
	case err != nil:
		return nil, err
	}
	at := call.Maybe(p.ScheduledAt)
	sameTime := (at == nil) == (kept.ScheduledAt == nil) && (at == nil || at.UTC == kept.ScheduledAt.UTC)
	if p.Status == kept.Status && sameTime {
		return nil, nil
	}
	note := first + "The post has changed since: its status is now " + string(p.Status)
	if p.Status == Scheduled {
		note += ", for " + at.Team
	}
	return []string{note + "."}, nil
}

func (s *Service) replayChangeNotes(ctx context.Context, call operation.Call, kept Changed) ([]string, error) {
	return s.replayNotes(ctx, call, kept.Full)
}
