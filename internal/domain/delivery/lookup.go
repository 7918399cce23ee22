package delivery

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"pressroom/internal/network"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/failpoint"
)

// resolve looks up at the network whether a commit took effect.
func (a *attempt) resolve(ctx context.Context) error {
	attempt, err := a.beginCall(ctx, "resolve")
	if err != nil {
		return err
	}
	tried, silent, err := sendHistory(ctx, a.s.db, a.d, attempt)
	if err != nil {
		return err
	}
	a.sentBefore = !tried.First.IsZero()
	verdict, receipt, err := a.lookUp(ctx, tried)
	a.recordAnswer(ctx, attempt, err)
	switch {
	case verdict == network.Published:
		return a.recordPublished(ctx, attempt, receipt)
	case verdict == network.Absent && err != nil:
		return a.handleAbandoned(ctx, err)
	case verdict == network.Absent && a.d.Phase == doubtful:
		return a.finish(ctx, ended, failedResult("network_error", ""))
	case verdict == network.Absent:
		return a.resend(ctx, tried, silent)
	case classOf(err) == network.AuthRefresh && !a.refreshed:
		return a.refreshGrant(ctx)
	case classOf(err) == network.Processing:
		return a.waitForNetwork(ctx, err)
	}
	return a.lookUpLater(ctx, err)
}

// lookUp makes the network call of resolve. A post that was found only by its content may belong to another
// delivery and then counts as unknown.
func (a *attempt) lookUp(ctx context.Context, t network.CommitHistory) (network.Verdict, network.Receipt, error) {
	failpoint.Point("before resolve call")
	callCtx, span := a.startCall(ctx, "network.resolve")
	verdict, receipt, err := a.net.Resolve(callCtx, a.grant.Grant, a.d.Draft, t)
	endCall(span, err)
	failpoint.Point("after resolve call")
	a.reportCall(ctx, "resolve", err)
	if verdict == network.Published && receipt.MatchedByContent && a.belongsToOther(ctx, receipt) {
		return network.Unknown, receipt, errAmbiguous
	}
	return verdict, receipt, err
}

// errAmbiguous is the error of a lookup that found a post which another publication may have made.
var errAmbiguous = &network.Error{Class: network.Uncertain,
	Err: errors.New("another publication on this account has the same content, and the post found may be that one")}

// belongsToOther reports whether a post that was found by its content may belong to another delivery with the
// same words. Otherwise this post would count as published and never be sent.
func (a *attempt) belongsToOther(ctx context.Context, r network.Receipt) bool {
	// The order matters: a delivery that ends between the two checks has its ID by the second. On an error, assume
	// that the post is another's.
	if rival, err := a.s.hasRival(ctx, a.d); err != nil || rival {
		return true
	}
	shown, err := otherPublications(ctx, a.s.db, a.d)
	return err != nil || (network.CommitHistory{OtherPosts: shown}).BelongsToOther(r.ID, r.Permalink)
}

// hasRival reports whether another post with the same words was sent to the account and has no result yet.
func (s *Service) hasRival(ctx context.Context, d delivery) (bool, error) {
	posts, err := db.All(ctx, s.db, func(rows *sql.Rows, post *string) error { return rows.Scan(post) },
		`SELECT DISTINCT d.post_id FROM deliveries d WHERE d.team_id = ? AND d.phase IN ('committing', 'doubtful')
			AND d.account_id = ? AND d.post_id <> ?`, d.TeamID, d.AccountID, d.PostID)
	if err != nil {
		return false, fmt.Errorf("listing other publications of account %d: %w", d.AccountID, err)
	}
	if len(posts) == 0 {
		return false, nil
	}
	ours, err := s.posts.TextFor(ctx, d.TeamID, d.PostID, d.AccountID)
	if err != nil {
		return false, fmt.Errorf("reading the content of post %s: %w", d.PostID, err)
	}
	return slices.ContainsFunc(posts, func(post string) bool {
		theirs, err := s.posts.TextFor(ctx, d.TeamID, post, d.AccountID)
		return err != nil || sameWords(ours, theirs) // an unreadable post may have the same words
	}), nil
}

// handleAbandoned fails or restarts a delivery that the network accepted and later dropped, depending on its
// reason.
func (a *attempt) handleAbandoned(ctx context.Context, err error) error {
	if a.d.Phase != doubtful {
		return a.handleRefusal(ctx, planned, err)
	}
	if e, ok := errors.AsType[*network.Error](err); ok && e.Class == network.Unapproved {
		a.logUnapproved(ctx, e)
	}
	code := cmp.Or(refusalCodes[classOf(err)], "network_error") // every other class is temporary
	return a.finish(ctx, ended, failedResult(code, errorMessage(err)))
}

// resend commits again, immediately after a lookup that found nothing. A commit without any answer may still
// take effect, so the last lookup counts only after quietTime.
func (a *attempt) resend(ctx context.Context, t network.CommitHistory, silent bool) error {
	now := a.s.db.Now()
	quiet := now.Sub(t.Last)
	switch last := a.d.Tries+1 >= maxTries || now.Sub(t.First) > maxOutageWait; {
	case last && silent && quiet < quietTime:
		return a.postpone(ctx, min(quietTime-quiet, maxPollInterval))
	case last:
		return a.finish(ctx, ended, failedResult("network_error", ""))
	case quiet < backoff(a.d.Tries+1):
		return a.postpone(ctx, backoff(a.d.Tries+1)-quiet)
	}
	if wait, may := a.s.circuits.allow(a.server, a.d.ID); !may {
		return a.postpone(ctx, wait)
	}
	a.d.Tries++
	return a.commit(ctx)
}
