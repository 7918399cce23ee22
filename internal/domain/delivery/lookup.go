package delivery

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/failpoint"
)

// resolve looks up on the network whether a commit published the post.
func (a *attempt) resolve(ctx context.Context) error {
	attemptID, err := a.beginCall(ctx, "resolve")
	if err != nil {
		return err
	}
	history, noResponse, err := commitHistory(ctx, a.s.db, a.d, attemptID)
	if err != nil {
		return err
	}
	a.committedBefore = !history.First.IsZero()
	verdict, receipt, err := a.lookUp(ctx, history)
	a.recordCallResult(ctx, attemptID, err)
	switch {
	case verdict == network.Published:
		return a.recordPublished(ctx, attemptID, receipt)
	case verdict == network.Absent && err != nil:
		return a.handleAbandoned(ctx, err)
	case verdict == network.Absent && a.d.Phase == phaseUnconfirmed:
		return a.finish(ctx, phaseEnded, failedResult("network_error", ""))
	case verdict == network.Absent:
		return a.resend(ctx, history, noResponse)
	case errorClass(err) == network.RefreshRequired && !a.refreshed:
		return a.refreshGrant(ctx)
	case errorClass(err) == network.Processing:
		return a.waitForNetwork(ctx, err)
	}
	return a.lookUpLater(ctx, err)
}

// lookUp makes the network call of resolve. If the post was found only by its content and may belong to another
// delivery, the verdict is unknown.
func (a *attempt) lookUp(ctx context.Context, history network.CommitHistory) (network.Verdict, network.Receipt, error) {
	failpoint.Point("before resolve call")
	callCtx, span := a.startCall(ctx, "network.resolve")
	verdict, receipt, err := a.net.Resolve(callCtx, a.grant.Grant, a.d.Draft, history)
	endCall(span, err)
	failpoint.Point("after resolve call")
	a.reportCall(ctx, "resolve", err)
	if verdict == network.Published && receipt.MatchedByContent && a.belongsToOther(ctx, receipt) {
		return network.Unknown, receipt, errAmbiguous
	}
	return verdict, receipt, err
}

// errAmbiguous is the error of a lookup that found a post that may belong to another delivery.
var errAmbiguous = &network.Error{Class: network.OutcomeUnknown,
	Err: errors.New("the found post may belong to another publication with the same content on this account")}

// belongsToOther reports whether a post that was found by its content may belong to another delivery with the same
// words. In that case, this delivery must not count as published, because its own post would never be sent.
func (a *attempt) belongsToOther(ctx context.Context, receipt network.Receipt) bool {
	// The order matters: if the other delivery ends between the two checks, the second check finds its ID. On an error,
	// assume that the post belongs to another delivery.
	if hasRival, err := a.s.hasCompetingDelivery(ctx, a.d); err != nil || hasRival {
		return true
	}
	published, err := otherPublications(ctx, a.s.db, a.d)
	return err != nil || (network.CommitHistory{OtherPosts: published}).BelongsToOther(receipt.ID, receipt.Permalink)
}

// hasCompetingDelivery reports whether another post has a part with the same words that is being published on the
// account, or whose outcome is unknown.
func (s *Service) hasCompetingDelivery(ctx context.Context, d delivery) (bool, error) {
	otherDeliveries, err := db.All(ctx, s.db, func(rows *sql.Rows, d *delivery) error { return rows.Scan(&d.PostID, &d.Part) },
		`SELECT DISTINCT d.post_id, d.part FROM deliveries d WHERE d.team_id = ? AND d.phase IN ('committing', 'doubtful')
			AND d.account_id = ? AND d.post_id <> ?`, d.TeamID, d.AccountID, d.PostID)
	if err != nil {
		return false, fmt.Errorf("listing other publications of account %d: %w", d.AccountID, err)
	}
	if len(otherDeliveries) == 0 {
		return false, nil
	}
	content, err := s.posts.ContentFor(ctx, d.TeamID, d.PostID, d.AccountID, d.Part)
	if err != nil {
		return false, fmt.Errorf("reading the content of post %s: %w", d.PostID, err)
	}
	return slices.ContainsFunc(otherDeliveries, func(other delivery) bool {
		otherContent, err := s.posts.ContentFor(ctx, d.TeamID, other.PostID, d.AccountID, other.Part)
		return err != nil || sameWords(content.Text, otherContent.Text) // If the post cannot be read, it may have the same words.
	}), nil
}

// handleAbandoned handles a post that the network accepted and later dropped. Depending on the error, it fails or
// restarts the delivery.
func (a *attempt) handleAbandoned(ctx context.Context, err error) error {
	if a.d.Phase != phaseUnconfirmed {
		return a.handleRejection(ctx, phasePlanned, err)
	}
	code := cmp.Or(rejectionCodes[errorClass(err)], "network_error") // All other classes are temporary.
	e, ok := errors.AsType[*network.Error](err)
	if !ok {
		return a.finish(ctx, phaseEnded, failedResult(code, ""))
	}
	if e.Class == network.AppNotApproved {
		a.logUnapproved(ctx, e)
	}
	return a.finishRejected(ctx, code, e)
}

// resend commits again immediately after a lookup found nothing, unless the delivery must wait first. A commit without
// a response may still publish the post. Therefore the delivery fails only if a lookup after quietTime finds nothing.
func (a *attempt) resend(ctx context.Context, history network.CommitHistory, noResponse bool) error {
	a.d.Lookups = 0 // The network responds again.
	now := a.s.db.Now()
	sinceLastCommit := now.Sub(history.Last)
	switch isLastTry := a.d.Tries+1 >= maxTries || now.Sub(history.First) > maxOutageWait; {
	case isLastTry && noResponse && sinceLastCommit < quietTime:
		return a.postpone(ctx, min(quietTime-sinceLastCommit, maxPollInterval))
	case isLastTry:
		return a.finish(ctx, phaseEnded, failedResult("network_error", ""))
	case sinceLastCommit < backoff(a.d.Tries+1):
		return a.postpone(ctx, backoff(a.d.Tries+1)-sinceLastCommit)
	}
	if wait, ok := a.s.breakers.allow(a.server, a.d.ID); !ok {
		return a.postpone(ctx, wait)
	}
	a.d.Tries++
	return a.commit(ctx)
}
