package post

import (
	"context"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
)

// replayNotes returns notes for a call that repeats an Idempotency-Key. It returns none unless the post has changed
// since the first response.
func (s *Service) replayNotes(ctx context.Context, call operation.Call, recorded Post) ([]string, error) {
	const first = "This is the response to the first call with this Idempotency-Key. "
	p, err := s.read(ctx, s.db, call.TeamID, recorded.ID, "")
	switch {
	case apierr.Is(err, apierr.NotFound):
		return []string{first + "The post has since been deleted."}, nil
	case err != nil:
		return nil, err
	}
	at := call.MomentOrNil(p.ScheduledAt)
	sameTime := (at == nil) == (recorded.ScheduledAt == nil) && (at == nil || at.UTC == recorded.ScheduledAt.UTC)
	if p.Status == recorded.Status && sameTime {
		return nil, nil
	}
	note := first + "The post has changed since then: its status is now " + string(p.Status)
	if p.Status == Scheduled {
		note += ", for " + at.Team
	}
	return []string{note + "."}, nil
}

func (s *Service) replayChangeNotes(ctx context.Context, call operation.Call, recorded PostChange) ([]string, error) {
	return s.replayNotes(ctx, call, recorded.Post)
}
