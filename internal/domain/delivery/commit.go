package delivery

import (
	"context"
	"errors"

	"pressroom/internal/network"
	"pressroom/internal/platform/failpoint"
)

// commit makes the one call that shows the post. That it was begun is written first.
func (a *attempt) commit(ctx context.Context) error {
	attempt, err := a.beginCall(ctx, "commit")
	if err != nil {
		return err
	}
	failpoint.Point("before commit call")
	return a.send(ctx, attempt)
}

// send makes the call of a commit that was begun just now. A process that has stood still believes in a lease that it has
// lost: others may have looked, found nothing and sent.
func (a *attempt) send(ctx context.Context, attempt int64) error {
	if err := a.checkLease(); err != nil {
		return err
	}
	calling, span := a.startCall(ctx, "network.commit")
	receipt, err := a.net.Commit(network.Still(calling, a.checkLease), a.grant.Grant, a.d.Draft, a.s.library.Files(a.d.TeamID))
	endCall(span, err)
	failpoint.Point("after commit call")
	a.reportCall(ctx, "commit", err)
	if err == nil {
		receipt.At = a.s.db.Now() // seen by us; a receipt that is looked up later tells the network's time
		return a.recordPublished(ctx, attempt, receipt)
	}
	a.recordAnswer(ctx, attempt, err)
	switch classOf(err) { //nolint:exhaustive // every other class is a refusal
	case network.Uncertain:
		return nil // the phase is committing: the next step asks
	case network.Duplicate:
		if t, _, lookErr := sendHistory(ctx, a.s.db, a.d, attempt); lookErr != nil || !t.First.IsZero() {
			return lookErr // it may be the same as what an earlier call of ours has left there
		}
	case network.Processing:
		if err := a.replaceDraft(ctx, err); err != nil {
			return err
		}
		return a.waitForNetwork(ctx, err)
	}
	return a.handleRefusal(ctx, prepared, err)
}

// replaceDraft keeps the draft that a network gave with its answer.
func (a *attempt) replaceDraft(ctx context.Context, cause error) error {
	e, ok := errors.AsType[*network.Error](cause)
	if !ok || len(e.Draft) == 0 {
		return nil
	}
	a.d.Draft = e.Draft
	return a.saveDraft(ctx, "delivery.committed")
}
