package list

import (
	"context"

	"pressroom/internal/core/operation"
)

// maxPerTransaction is how many hashtags the transaction of a call wants by itself.
const maxPerTransaction = 500

// enqueueForCreate wants what a new list is going to hold, before the transaction that makes it. What keeps the list from being
// made is told by that transaction, as is all that fails here.
func (s *Service) enqueueForCreate(ctx context.Context, call operation.Call, in CreateInput) error {
	if len(in.Hashtags) <= maxPerTransaction {
		return nil
	}
	l, err := in.newList(call.TeamID)
	if err != nil {
		return err
	}
	plan, _ := s.Terms.Plan(call.Plan) // one that is not there any more has none
	if err := checkListCount(ctx, s.db, call, plan); err != nil {
		return err
	}
	return s.enqueue(ctx, call, l, in.Hashtags)
}

// enqueueForAdd wants what is going to be added to a list, before the transaction that does so.
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
	return s.Figures.EnqueueInBatches(ctx, l.Platform, fitting)
}
