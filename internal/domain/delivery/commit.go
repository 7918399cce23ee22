package delivery

import (
	"context"
	"errors"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/failpoint"
)

// commit records the start of the commit and then makes the call that publishes the post.
func (a *attempt) commit(ctx context.Context) error {
	attemptID, err := a.beginCall(ctx, "commit")
	if err != nil {
		return err
	}
	failpoint.Point("before commit call")
	return a.send(ctx, attemptID)
}

// send makes the call that publishes the post. It returns an error if the lease may have expired, because another node
// may have sent the post since.
func (a *attempt) send(ctx context.Context, attemptID int64) error {
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
		receipt.At = a.s.db.Now() // Use our clock here. The receipt of a lookup has the network's time.
		return a.recordPublished(ctx, attemptID, receipt)
	}
	a.recordCallResult(ctx, attemptID, err)
	switch errorClass(err) { //nolint:exhaustive // every other class is a rejection
	case network.OutcomeUnknown:
		return nil // The phase is committing, so the next step looks up the post.
	case network.Duplicate:
		if history, _, historyErr := commitHistory(ctx, a.s.db, a.d, attemptID); historyErr != nil || !history.First.IsZero() {
			return historyErr // An earlier commit may have published the duplicate.
		}
	case network.Processing:
		if err := a.replaceDraft(ctx, err); err != nil {
			return err
		}
		return a.waitForNetwork(ctx, err)
	}
	return a.handleRejection(ctx, phasePrepared, err)
}

// replaceDraft stores the draft in an error of the network, if there is one.
func (a *attempt) replaceDraft(ctx context.Context, cause error) error {
	e, ok := errors.AsType[*network.Error](cause)
	if !ok || len(e.Draft) == 0 {
		return nil
	}
	a.d.Draft = e.Draft
	return a.saveDraft(ctx, "delivery.committed")
}
