package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	maxTries                = 6                // failed calls until the delivery fails
	maxRejectedGrants       = 3                // rejections of new grants until the connection counts as lost
	quietTime               = 90 * time.Second // how long a call without a response may still publish the post
	maxLookups              = 6                // inconclusive lookups in a row until the account is unconfirmed
	maxRateLimitWait        = 15 * time.Minute // maximum wait that a network can request
	minBackoff              = 500 * time.Millisecond
	maxBackoff              = 15 * time.Second
	unconfirmedLookupPeriod = 24 * time.Hour // how long an unconfirmed account is looked up
)

// backoff returns the wait after the nth failure. It doubles from minBackoff to maxBackoff.
func backoff(n int) time.Duration {
	return min(maxBackoff, minBackoff<<min(n, 10))
}

// lookupInterval returns the wait before an unconfirmed account is looked up again. It doubles from a minute to more
// than four hours.
func lookupInterval(lookups int) time.Duration {
	return time.Minute << min(max(0, lookups-maxLookups), 8)
}

// errorClass returns the class of a network error. Other errors count as transient.
func errorClass(err error) network.ErrorClass {
	if e, ok := errors.AsType[*network.Error](err); ok {
		return e.Class
	}
	return network.Transient
}

// errorMessage returns the network's message in an error, or "".
func errorMessage(err error) string {
	if e, ok := errors.AsType[*network.Error](err); ok {
		return e.Message
	}
	return ""
}

// rejectionCodes are the error codes of permanent rejections.
var rejectionCodes = map[network.ErrorClass]string{
	network.Rejected: "rejected_content", network.AppNotApproved: "app_not_approved",
	network.RejectedMedia: "rejected_media", network.Duplicate: "duplicate_content",
}

// handleRejection handles an error of a call that had no effect. The delivery fails, waits, or starts again from the
// phase restart.
func (a *attempt) handleRejection(ctx context.Context, restart phase, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx) // The process stops or lost the lease, so another holder continues.
	}
	a.d.Phase = restart
	var e *network.Error
	if !errors.As(err, &e) {
		e = &network.Error{Class: network.Transient, Err: err}
	}
	if errors.Is(e.Err, network.ErrPreflight) {
		return a.finish(ctx, phaseEnded, failedResult("preflight_blocked", ""))
	}
	switch e.Class {
	case network.RefreshRequired:
		switch {
		case !a.refreshed:
			return a.refreshGrant(ctx)
		case a.d.Tries+1 >= maxRejectedGrants:
			return a.handleLostGrant(ctx, e.Message)
		}
		// The grant is new, so a single rejection does not mean that the grant is invalid.
		return a.retry(ctx, restart, "account_needs_reauth", e.Message, 0)
	case network.ReconnectRequired:
		return a.handleLostGrant(ctx, e.Message)
	case network.RateLimited, network.QuotaExceeded:
		return a.waitForQuota(ctx, e)
	case network.Rejected, network.AppNotApproved, network.RejectedMedia, network.Duplicate:
		if e.Class == network.AppNotApproved {
			a.logUnapproved(ctx, e)
		}
		return a.finishRejected(ctx, rejectionCodes[e.Class], e)
	case network.HostBlocked:
		// The operator's settings block the server, so the circuit does not apply.
		return a.retry(ctx, restart, "server_not_allowed", "", 0)
	case network.Transient, network.OutcomeUnknown,
		network.Processing: // The call published nothing, so it can be repeated.
	}
	if wait, ok := a.mayCall(); !ok {
		return a.waitForCircuit(ctx, wait) // The whole network fails, so this does not count as a try.
	}
	return a.retry(ctx, restart, "network_error", e.Message, 0)
}

// finishRejected ends the delivery with a permanent rejection. If the network has the post but does not show it, the
// result has its ID and permalink, and the draft is stored for the next retry. See hiddenPostDraft.
func (a *attempt) finishRejected(ctx context.Context, code string, e *network.Error) error {
	r := failedResult(code, e.Message)
	if e.Hidden.ID != "" {
		if err := a.replaceDraft(ctx, e); err != nil {
			return err
		}
		r.NetworkID, r.Permalink = e.Hidden.ID, e.Hidden.Permalink
	}
	return a.finish(ctx, phaseEnded, r)
}

// retry starts again from a phase after a backoff, or after wait if that is longer. After maxTries the delivery fails
// with the code.
func (a *attempt) retry(ctx context.Context, restart phase, code, message string, wait time.Duration) error {
	a.d.Phase = restart
	a.d.Tries++
	if a.d.Tries >= maxTries {
		return a.finish(ctx, phaseEnded, failedResult(code, message))
	}
	return a.postpone(ctx, max(wait, backoff(a.d.Tries)))
}

// waitForQuota waits as long as the network requests. The delivery fails if the requested wait exceeds
// maxRateLimitWait.
func (a *attempt) waitForQuota(ctx context.Context, e *network.Error) error {
	code := "rate_limited"
	if e.Class == network.QuotaExceeded {
		code = "quota_used_up"
	}
	wait := e.RetryAt.Sub(a.s.db.Now())
	if wait > maxRateLimitWait {
		return a.finish(ctx, phaseEnded, failedResult(code, e.Message))
	}
	return a.retry(ctx, a.d.Phase, code, e.Message, wait)
}

// refreshGrant renews the grant. The delivery continues in its phase.
func (a *attempt) refreshGrant(ctx context.Context) error {
	grant, err := a.s.accounts.Refresh(ctx, a.d.AccountID, a.grant)
	a.refreshed = true
	switch {
	case err == nil && !grant.Lost:
		a.grant = grant
		return nil
	case err == nil || errorClass(err) == network.ReconnectRequired:
		return a.handleLostGrant(ctx, errorMessage(err))
	case a.d.Phase == phaseCommitting || a.d.Phase == phaseUnconfirmed:
		return a.lookUpLater(ctx, err)
	}
	return a.handleRejection(ctx, a.d.Phase, err)
}

// handleLostGrant fails the delivery unless the account was reconnected concurrently. After a commit, the account
// becomes unconfirmed instead, because the post cannot be looked up.
func (a *attempt) handleLostGrant(ctx context.Context, message string) error {
	if err := a.s.accounts.MarkLost(ctx, a.d.AccountID, a.grant); err != nil {
		return err
	}
	current, err := a.s.accounts.Grant(ctx, a.d.AccountID)
	if err != nil {
		return err
	}
	if !current.Lost {
		a.grant, a.refreshed = current, false
		return nil
	}
	if a.d.Phase == phaseCommitting || a.d.Phase == phaseUnconfirmed {
		a.d.Lookups++
		return a.leaveUnconfirmed(ctx, message)
	}
	return a.finish(ctx, phaseEnded, failedResult("account_needs_reauth", message))
}

// lookUpLater waits before the next lookup. After maxLookups the account becomes unconfirmed. Lookups then continue for
// a day at increasing intervals.
func (a *attempt) lookUpLater(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.d.Lookups++
	if a.d.Phase != phaseUnconfirmed && a.d.Lookups < maxLookups {
		return a.postpone(ctx, backoff(a.d.Lookups))
	}
	return a.leaveUnconfirmed(ctx, errorMessage(err))
}

// leaveUnconfirmed ends the delivery as unconfirmed. Lookups continue for unconfirmedLookupPeriod.
func (a *attempt) leaveUnconfirmed(ctx context.Context, message string) error {
	if a.d.Phase == phaseUnconfirmed && a.s.db.Now().Sub(a.d.CreatedAt) > unconfirmedLookupPeriod {
		return a.finish(ctx, phaseEnded, unconfirmedResult(message))
	}
	return a.finish(ctx, phaseUnconfirmed, unconfirmedResult(message))
}

// callWait is the value of AttemptLine.Call for a wait while the network fails. The other constants are the results of
// such a wait.
const (
	callWait           = "rest"
	resultNetworkFails = "network_fails"    // while waiting
	resultGaveUp       = "patience_is_over" // after maxOutageWait
)

// waitForCircuit waits while the circuit is open. The wait does not count as a try. After maxOutageWait the delivery
// fails, so that an outdated post is not published unexpectedly.
func (a *attempt) waitForCircuit(ctx context.Context, wait time.Duration) error {
	err := a.s.db.InTx(ctx, "delivery.rest", func(ctx context.Context, tx *db.Tx) error {
		id, since, err := outageStart(ctx, tx, a.d)
		if err != nil {
			return err
		}
		if tx.Now().Sub(since) < maxOutageWait {
			return a.postponeTx(ctx, tx, wait)
		}
		if _, err := tx.Exec(ctx, `UPDATE delivery_attempts SET ended_at = ?, result = ? WHERE id = ?`,
			db.Micros(tx.Now()), resultGaveUp, id); err != nil {
			return fmt.Errorf("recording that %s stopped waiting: %w", a.d.ID, err)
		}
		return a.finishTx(ctx, tx, phaseEnded, failedResult("network_error", ""))
	})
	if err != nil {
		return fmt.Errorf("postponing %s: %w", a.d.ID, err)
	}
	return nil
}

// outageStart returns the ID and start of the current wait. It starts a wait if there is none. A call ends the wait if
// its result is not a temporary failure.
func outageStart(ctx context.Context, tx *db.Tx, d delivery) (int64, time.Time, error) {
	var id, since int64
	err := tx.QueryRow(ctx, `SELECT id, started_at FROM delivery_attempts WHERE delivery_id = ? AND call = ?
		AND id > (SELECT COALESCE(MAX(id), 0) FROM delivery_attempts WHERE delivery_id = ? AND call <> ?
		AND result NOT IN ('', ?, ?)) ORDER BY id LIMIT 1`,
		d.ID, callWait, d.ID, callWait, string(network.Transient), string(network.OutcomeUnknown)).Scan(&id, &since)
	if errors.Is(err, sql.ErrNoRows) {
		since = db.Micros(tx.Now())
		err = tx.QueryRow(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, result)
			VALUES (?, ?, ?, ?, ?) RETURNING id`, d.ID, d.Epoch, callWait, since, resultNetworkFails).Scan(&id)
	}
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("recording that %s waits: %w", d.ID, err)
	}
	return id, db.Time(since), nil
}
