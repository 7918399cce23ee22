package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

const (
	maxTries         = 6                // failed calls that may be repeated, before a person is to decide
	maxRefusedGrants = 3                // grants just given out that may be refused, before a person is to connect again
	quietTime        = 90 * time.Second // after a call without an answer, in which it may still land
	maxLookups       = 6                // times a network that cannot say is asked before the account stands unconfirmed
	maxRateLimitWait = 15 * time.Minute // longest that a network's own waiting time is waited out
	minBackoff       = 500 * time.Millisecond
	maxBackoff       = 15 * time.Second
	lookUpFor        = 24 * time.Hour // how long an unconfirmed account is looked at now and then
)

// backoff is the back-off after the nth failure, from half a second doubling to 15 s.
func backoff(n int) time.Duration {
	return min(maxBackoff, minBackoff<<min(n, 10))
}

// lookupInterval is how long an unconfirmed account rests before the network is asked again: from a minute doubling
// to some hours.
func lookupInterval(looks int) time.Duration {
	return time.Minute << min(max(0, looks-maxLookups), 8)
}

func classOf(err error) network.Class {
	if e, ok := errors.AsType[*network.Error](err); ok {
		return e.Class
	}
	return network.Transient
}

func errorMessage(err error) string {
	if e, ok := errors.AsType[*network.Error](err); ok {
		return e.Message
	}
	return ""
}

// refusalCodes are the codes of what no repeat mends.
var refusalCodes = map[network.Class]string{
	network.Rejected: "rejected_content", network.Unapproved: "rejected_content", network.RejectedMedia: "rejected_media", network.Duplicate: "duplicate_content",
}

// handleRefusal decides what follows a call that certainly had no effect; back is the phase to begin again from.
func (a *attempt) handleRefusal(ctx context.Context, back phase, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx) // we are stopping, or hold the delivery no more: somebody takes over
	}
	a.d.Phase = back
	var e *network.Error
	if !errors.As(err, &e) {
		e = &network.Error{Class: network.Transient, Err: err}
	}
	if errors.Is(e.Err, network.ErrPreflight) {
		return a.finish(ctx, ended, failedResult("preflight_blocked", ""))
	}
	switch e.Class {
	case network.AuthRefresh:
		switch {
		case !a.refreshed:
			return a.refreshGrant(ctx)
		case a.d.Tries+1 >= maxRefusedGrants:
			return a.handleLostGrant(ctx, e.Message)
		}
		// The network has just given this grant out: only one that it goes on refusing is dead.
		return a.retry(ctx, back, "account_needs_reauth", e.Message, 0)
	case network.AuthDead:
		return a.handleLostGrant(ctx, e.Message)
	case network.Rate, network.Quota:
		return a.waitForQuota(ctx, e)
	case network.Rejected, network.Unapproved, network.RejectedMedia, network.Duplicate:
		return a.finish(ctx, ended, failedResult(refusalCodes[e.Class], e.Message))
	case network.Barred:
		return a.retry(ctx, back, "server_not_allowed", "", 0) // our own doing: the network's circuit has no part in it
	case network.Transient, network.Uncertain, network.Processing: // a call that shows nothing may be repeated in either case
	}
	if wait, may := a.s.circuits.allow(a.server, a.d.ID); !may {
		return a.waitForCircuit(ctx, wait) // the whole network fails: that is no try of this post's
	}
	return a.retry(ctx, back, "network_error", e.Message, 0)
}

// retry gives the delivery back to begin once more from a phase after a pause, and after the wait that the
// network asked for; when it was tried often enough it fails with the code.
func (a *attempt) retry(ctx context.Context, from phase, code, message string, wait time.Duration) error {
	a.d.Phase = from
	a.d.Tries++
	if a.d.Tries >= maxTries {
		return a.finish(ctx, ended, failedResult(code, message))
	}
	return a.postpone(ctx, max(wait, backoff(a.d.Tries)))
}

// waitForQuota rests as long as the network asked, where that is bearable.
func (a *attempt) waitForQuota(ctx context.Context, e *network.Error) error {
	code := "rate_limited"
	if e.Class == network.Quota {
		code = "quota_used_up"
	}
	wait := e.After.Sub(a.s.db.Now())
	if wait > maxRateLimitWait {
		return a.finish(ctx, ended, failedResult(code, e.Message))
	}
	return a.retry(ctx, a.d.Phase, code, e.Message, wait)
}

// refreshGrant renews the grant once. The delivery goes on from the phase it is in.
func (a *attempt) refreshGrant(ctx context.Context) error {
	fresh, err := a.s.accounts.Refresh(ctx, a.d.AccountID, a.grant)
	a.refreshed = true
	switch {
	case err == nil && !fresh.Lost:
		a.grant = fresh
		return nil
	case err == nil || classOf(err) == network.AuthDead:
		return a.handleLostGrant(ctx, errorMessage(err))
	case a.d.Phase == committing || a.d.Phase == doubtful:
		return a.lookUpLater(ctx, err)
	}
	return a.handleRefusal(ctx, a.d.Phase, err)
}

// handleLostGrant ends what only a person can mend, unless one did meanwhile: then it goes on with the new connection. A commit in doubt stays
// in doubt: the network cannot be asked.
func (a *attempt) handleLostGrant(ctx context.Context, message string) error {
	if err := a.s.accounts.MarkLost(ctx, a.d.AccountID, a.grant); err != nil {
		return err
	}
	now, err := a.s.accounts.Grant(ctx, a.d.AccountID)
	if err != nil {
		return err
	}
	if !now.Lost {
		a.grant, a.refreshed = now, false
		return nil
	}
	if a.d.Phase == committing || a.d.Phase == doubtful {
		a.d.Lookups++
		return a.leaveUnconfirmed(ctx, message)
	}
	return a.finish(ctx, ended, failedResult("account_needs_reauth", message))
}

// lookUpLater rests before the network is asked once more. When it could not say for long the account stands
// unconfirmed for its job and is asked about ever more rarely, for a day.
func (a *attempt) lookUpLater(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.d.Lookups++
	if a.d.Phase != doubtful && a.d.Lookups < maxLookups {
		return a.postpone(ctx, backoff(a.d.Lookups))
	}
	return a.leaveUnconfirmed(ctx, errorMessage(err))
}

// leaveUnconfirmed leaves the account unconfirmed. It is looked at again for a day.
func (a *attempt) leaveUnconfirmed(ctx context.Context, message string) error {
	if a.d.Phase == doubtful && a.s.db.Now().Sub(a.d.CreatedAt) > lookUpFor {
		return a.finish(ctx, ended, unconfirmedResult(message))
	}
	return a.finish(ctx, doubtful, unconfirmedResult(message))
}

// The marks of a delivery that rests, among its attempts.
const (
	callRest           = "rest"             // the call
	resultNetworkFails = "network_fails"    // its result meanwhile
	resultGaveUp       = "patience_is_over" // and in the end
)

// waitForCircuit gives the delivery back while its network fails, which is no try of its own. But a post that is out of date when
// the network comes back should not surprise anybody.
func (a *attempt) waitForCircuit(ctx context.Context, wait time.Duration) error {
	err := a.s.db.InTx(ctx, "delivery.rest", func(ctx context.Context, tx *db.Tx) error {
		id, since, err := outageStart(ctx, tx, a.d)
		if err != nil {
			return err
		}
		if tx.Now().Sub(since) < maxOutageWait {
			return a.postpone(ctx, wait)
		}
		if _, err := tx.Exec(ctx, `UPDATE delivery_attempts SET ended_at = ?, result = ? WHERE id = ?`, db.Micros(tx.Now()), resultGaveUp, id); err != nil {
			return fmt.Errorf("noting that %s rests no more: %w", a.d.ID, err)
		}
		return a.finish(ctx, ended, failedResult("network_error", ""))
	})
	if err != nil {
		return fmt.Errorf("resting %s: %w", a.d.ID, err)
	}
	return nil
}

// outageStart finds the attempt that says since when a delivery rests, or writes it. A call that the network answered ends
// a rest.
func outageStart(ctx context.Context, tx *db.Tx, d delivery) (int64, time.Time, error) {
	var id, since int64
	err := tx.QueryRow(ctx, `SELECT id, started_at FROM delivery_attempts WHERE delivery_id = ? AND call = ? AND id >
		(SELECT COALESCE(MAX(id), 0) FROM delivery_attempts WHERE delivery_id = ? AND call <> ? AND result NOT IN ('', ?, ?)) ORDER BY id LIMIT 1`,
		d.ID, callRest, d.ID, callRest, string(network.Transient), string(network.Uncertain)).Scan(&id, &since)
	if errors.Is(err, sql.ErrNoRows) {
		since = db.Micros(tx.Now())
		err = tx.QueryRow(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, result) VALUES (?, ?, ?, ?, ?) RETURNING id`, d.ID, d.Epoch, callRest, since, resultNetworkFails).Scan(&id)
	}
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("noting that %s rests: %w", d.ID, err)
	}
	return id, db.Time(since), nil
}
