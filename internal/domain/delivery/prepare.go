package delivery

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/failpoint"
)

// prepare fixes the request and lets the network prepare media. Nothing is public yet.
func (a *attempt) prepare(ctx context.Context) error {
	if len(a.d.Draft) == 0 {
		if err := a.plan(ctx); err != nil || a.done {
			return err
		}
	}
	started := a.s.db.Now()
	failpoint.Point("before prepare call")
	callCtx, span := a.startCall(ctx, "network.prepare")
	draft, wait, err := a.net.Prepare(callCtx, a.grant.Grant, a.d.Draft, a.s.library.Files(a.d.TeamID))
	endCall(span, err)
	failpoint.Point("after prepare call")
	a.reportCall(ctx, "prepare", err)
	if err != nil {
		a.recordFailedCall(ctx, "prepare", started, err)
		return a.handleRejection(ctx, phasePlanned, err)
	}
	a.d.Draft = draft
	if wait > 0 {
		return a.waitUntilReady(ctx, wait)
	}
	a.d.Phase = phasePrepared
	return a.saveDraft(ctx, "delivery.prepared")
}

// plan creates the exact request and stores it. It ends the delivery if the ID of a post to reply to is unknown.
func (a *attempt) plan(ctx context.Context) error {
	p, t, language, err := a.s.posts.LoadForDelivery(ctx, a.d.TeamID, a.d.PostID, a.d.AccountID)
	if err != nil {
		return err
	}
	submission := network.Submission{Seed: fmt.Sprintf("%s:%d", a.d.PostID, a.d.AccountID), FirstSubmittedAt: a.d.FirstSubmittedAt,
		At: a.d.CreatedAt, Content: p.PartContent(t, language, a.d.Part)}
	if a.d.Part != 0 {
		reply, known := t.ReplyOf(a.d.Part)
		if !known {
			return a.finish(ctx, phaseEnded, failedResult(threadInterrupted, ""))
		}
		submission.Seed, submission.Reply = fmt.Sprintf("%s:%d", submission.Seed, a.d.Part), &reply
	}
	a.d.Draft, err = a.net.Plan(submission)
	if err != nil {
		return fmt.Errorf("planning delivery %s: %w", a.d.ID, err)
	}
	return a.saveDraft(ctx, "delivery.planned")
}
