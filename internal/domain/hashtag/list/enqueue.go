package list

import (
	"context"

	"pressroom.example/pressroom/internal/core/operation"
)

// maxPerTransaction is how many hashtags may be enqueued in the transaction that adds them to a list.
const maxPerTransaction = 500

// enqueueForCreate requests figures for the hashtags of a large new list before the transaction that creates it. Errors
// are ignored here because the transaction reports them.
func (s *Service) enqueueForCreate(ctx context.Context, call operation.Call, in CreateInput) error {
	if len(in.Hashtags) <= maxPerTransaction {
		return nil
	}
	l, err := in.newList(call.TeamID)
	if err != nil {
		return err
	}
	plan, _ := s.Catalog.Plan(call.Plan) // a removed plan allows none
	if err := checkListCount(ctx, s.db, call, plan); err != nil {
		return err
	}
	return s.enqueue(ctx, call, l, in.Hashtags)
}

// enqueueForAdd requests figures for a large number of hashtags before the transaction that adds them.
func (s *Service) enqueueForAdd(ctx context.Context, call operation.Call, in AddInput) error {
	if len(in.Hashtags) <= maxPerTransaction {
		return nil
	}
	l, err := read(ctx, s.db, call.TeamID, in.ListID, "")
	if err != nil {
		return err
	}
	return s.enqueue(ctx, call, l, in.Hashtags)
}

func (s *Service) enqueue(ctx context.Context, call operation.Call, l List, sent []string) error {
	fitting, _, err := s.selectNew(ctx, s.db, call, l, sent)
	if err != nil {
		return err
	}
	return s.Statistics.EnqueueInBatches(ctx, l.Platform, fitting)
}
