package list

import (
	"context"

	"pressroom.example/pressroom/internal/core/operation"
)

// maxPerTransaction is the maximum number of hashtags that are enqueued in the transaction that adds them to a list.
const maxPerTransaction = 500

// enqueueForCreate requests the measurement of the hashtags of a large new list before the transaction that creates the
// list. Its error is ignored, because the transaction returns the same error.
func (s *Service) enqueueForCreate(ctx context.Context, call operation.Call, in CreateInput) error {
	if len(in.Hashtags) <= maxPerTransaction {
		return nil
	}
	l, err := in.newList(call.TeamID)
	if err != nil {
		return err
	}
	p, _ := s.Catalog.Plan(call.Plan) // if the plan was removed, p allows no lists
	if err := checkListCount(ctx, s.db, call, p); err != nil {
		return err
	}
	return s.enqueue(ctx, call, l, in.Hashtags)
}

// enqueueForAdd requests the measurement of a large number of hashtags before the transaction that adds them to a list.
// As in enqueueForCreate, its error is ignored.
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

func (s *Service) enqueue(ctx context.Context, call operation.Call, l List, hashtags []string) error {
	accepted, _, err := s.selectNew(ctx, s.db, call, l, hashtags)
	if err != nil {
		return err
	}
	return s.Statistics.EnqueueInBatches(ctx, l.Platform, accepted)
}
