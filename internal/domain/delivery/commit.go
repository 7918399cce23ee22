package delivery

import (
	"context"
	"errors"

	"pressroom/internal/network"
	"pressroom/internal/platform/failpoint"
)

// commit records that the commit begins, then makes the one call that publishes the post.
func (a *attempt) commit(ctx context.Context) error {
	attempt, err := a.beginCall(ctx, "commit")
	if err != nil {
		return err
	}
	failpoint.Point("before commit call")
	return a.send(ctx, attempt)
}

// send makes the call of a commit. It returns an error if the lease may have expired, because another node may have
// found nothing at the network and sent the post.
func (a *attempt) send(ctx context.Context, attempt int64) error {
	if err := a.checkLease(); err != nil {
		return err
	}
	callCtx, span := a.startCall(ctx, "network.commit")
	receipt, err := a.net.Commit(network.WithSendCheck(callCtx, a.checkLease), a.grant.Grant, a.d.Draft,
		a.s.library.Files(a.d.TeamID))
	endCall(span, err)
	failpoint.Point("after commit call")
	a.reportCall(ctx, "commit", err)
	if err == nil {
		receipt.At = a.s.db.Now() // our clock; a receipt from a lookup has the network's time
		return a.recordPublished(ctx, attempt, receipt)
	}
	a.recordAnswer(ctx, attempt, err)
	switch classOf(err) { //nolint:exhaustive // every other class is a refusal
	case network.Uncertain:
		return nil // the phase is committing, so the next step resolves
	case network.Duplicate:
		if t, _, lookErr := sendHistory(ctx, a.s.db, a.d, attempt); lookErr != nil || !t.First.IsZero() {
			return lookErr // an earlier call of ours may have made the duplicate
		}
	case network.Processing:
		if err := a.replaceDraft(ctx, err); err != nil {
			return err
		}
		return a.waitForNetwork(ctx, err)
	}
	return a.handleRefusal(ctx, prepared, err)
}

// replaceDraft stores the draft that a network returned with its answer, if any.
func (a *attempt) replaceDraft(ctx context.Context, cause error) error {
	e, ok := errors.AsType[*network.Error](cause)
	if !ok || len(e.Draft) == 0 {
		return nil
	}
	a.d.Draft = e.Draft
	return a.saveDraft(ctx, "delivery.committed")
}
