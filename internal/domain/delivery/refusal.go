package delivery

import (
	"context"
	"errors"
	"time"

	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

const (
	maxTries   = 6                // failed calls that may be repeated, before a person is to decide
	maxRefused = 3                // grants just given out that may be refused, before a person is to connect again
	calm       = 90 * time.Second // after a call without an answer, in which it may still land
	maxLooks   = 6                // times a network that cannot say is asked before the account stands unconfirmed
	maxWait    = 15 * time.Minute // longest that a network's own waiting time is waited out
	firstPause = 500 * time.Millisecond
	lastPause  = 15 * time.Second
	doubtFor   = 24 * time.Hour // how long an unconfirmed account is looked at now and then
)

// pause is the back-off after the nth failure, from half a second doubling to 15 s.
func pause(n int) time.Duration {
	return min(lastPause, firstPause<<min(n, 10))
}

// laterLook is how long an unconfirmed account rests before the network is asked again: from a minute doubling
// to some hours.
func laterLook(looks int) time.Duration {
	return time.Minute << min(max(0, looks-maxLooks), 8)
}

func classOf(err error) network.Class {
	if e, ok := errors.AsType[*network.Error](err); ok {
		return e.Class
	}
	return network.Transient
}

// refusals are the codes of what no repeat mends.
var refusals = map[network.Class]string{
	network.Rejected: "rejected_content", network.Unapproved: "rejected_content", network.RejectedMedia: "rejected_media", network.Duplicate: "duplicate_content",
}

// refused decides what follows a call that certainly had no effect; back is the phase to begin again from.
func (f *flight) refused(ctx context.Context, back phase, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx) // we are stopping, or hold the delivery no more: somebody takes over
	}
	f.d.Phase = back
	var e *network.Error
	if !errors.As(err, &e) {
		e = &network.Error{Class: network.Transient, Err: err}
	}
	if errors.Is(e.Err, network.ErrPreflight) {
		return f.finish(ctx, ended, failure("preflight_blocked", ""))
	}
	switch e.Class {
	case network.AuthRefresh:
		switch {
		case !f.refreshed:
			return f.refresh(ctx)
		case f.d.Tries+1 >= maxRefused:
			return f.authDead(ctx, e.Message)
		}
		// The network has just given this grant out: only one that it goes on refusing is dead.
		return f.again(ctx, back, "account_needs_reauth", e.Message, 0)
	case network.AuthDead:
		return f.authDead(ctx, e.Message)
	case network.Rate, network.Quota:
		return f.waitOut(ctx, e)
	case network.Rejected, network.Unapproved, network.RejectedMedia, network.Duplicate:
		return f.finish(ctx, ended, failure(refusals[e.Class], e.Message))
	case network.Barred:
		return f.again(ctx, back, "server_not_allowed", "", 0) // our own doing: the network's circuit has no part in it
	case network.Transient, network.Uncertain, network.Processing: // a call that shows nothing may be repeated in either case
	}
	if wait, may := f.s.circuits.admits(f.server, f.d.ID); !may {
		return f.rest(ctx, wait) // the whole network fails: that is no try of this post's
	}
	return f.again(ctx, back, "network_error", e.Message, 0)
}

// again gives the delivery back to begin once more from a phase after a pause, and after the wait that the
// network asked for; when it was tried often enough it fails with the code.
func (f *flight) again(ctx context.Context, from phase, code, message string, wait time.Duration) error {
	f.d.Phase = from
	f.d.Tries++
	if f.d.Tries >= maxTries {
		return f.finish(ctx, ended, failure(code, message))
	}
	return f.later(ctx, max(wait, pause(f.d.Tries)))
}

// waitOut rests as long as the network asked, where that is bearable.
func (f *flight) waitOut(ctx context.Context, e *network.Error) error {
	code := "rate_limited"
	if e.Class == network.Quota {
		code = "quota_used_up"
	}
	wait := e.After.Sub(f.s.db.Now())
	if wait > maxWait {
		return f.finish(ctx, ended, failure(code, e.Message))
	}
	return f.again(ctx, f.d.Phase, code, e.Message, wait)
}

// refresh renews the grant once. The delivery goes on from the phase it is in.
func (f *flight) refresh(ctx context.Context) error {
	fresh, err := f.s.accounts.Refresh(ctx, f.d.AccountID, f.grant)
	f.refreshed = true
	switch {
	case err == nil && !fresh.Lost:
		f.grant = fresh
		return nil
	case err == nil || classOf(err) == network.AuthDead:
		return f.authDead(ctx, messageOf(err))
	case f.d.Phase == committing || f.d.Phase == doubtful:
		return f.lookAgain(ctx, err)
	}
	return f.refused(ctx, f.d.Phase, err)
}

// authDead ends what only a person can mend, unless one did meanwhile: then it goes on with the new connection. A commit in doubt stays
// in doubt: the network cannot be asked.
func (f *flight) authDead(ctx context.Context, message string) error {
	if err := f.s.accounts.Lose(ctx, f.d.AccountID, f.grant); err != nil {
		return err
	}
	now, err := f.s.accounts.Grant(ctx, f.d.AccountID)
	if err != nil {
		return err
	}
	if !now.Lost {
		f.grant, f.refreshed = now, false
		return nil
	}
	if f.d.Phase == committing || f.d.Phase == doubtful {
		f.d.Looks++
		return f.doubt(ctx, message)
	}
	return f.finish(ctx, ended, failure("account_needs_reauth", message))
}

func unconfirmed(message string) post.Result {
	return post.Result{State: post.Unconfirmed, ErrorCode: "not_confirmed", NetworkText: message}
}

func messageOf(err error) string {
	if e, ok := errors.AsType[*network.Error](err); ok {
		return e.Message
	}
	return ""
}

// lookAgain rests before the network is asked once more. When it could not say for long the account stands
// unconfirmed for its job and is asked about ever more rarely, for a day.
func (f *flight) lookAgain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f.d.Looks++
	if f.d.Phase != doubtful && f.d.Looks < maxLooks {
		return f.later(ctx, pause(f.d.Looks))
	}
	return f.doubt(ctx, messageOf(err))
}

// doubt leaves the account unconfirmed. It is looked at again for a day.
func (f *flight) doubt(ctx context.Context, message string) error {
	if f.d.Phase == doubtful && f.s.db.Now().Sub(f.d.CreatedAt) > doubtFor {
		return f.finish(ctx, ended, unconfirmed(message))
	}
	return f.finish(ctx, doubtful, unconfirmed(message))
}

// later gives the delivery back until a time has passed. One that was committed without an answer goes on with a look,
// however sure the last one was.
func (f *flight) later(ctx context.Context, wait time.Duration) error {
	f.done = true
	if f.doubted && f.d.Phase == prepared {
		f.d.Phase = committing
	}
	return f.s.fenced(ctx, "delivery.later", f.d, `UPDATE deliveries SET phase = ?, tries = ?, looks = ?, owner = '', lease_until = 0, not_before = ?, wake_at = ?`, func(tx *db.Tx) []any {
		at := db.Micros(tx.Now().Add(wait))
		return []any{string(f.d.Phase), f.d.Tries, f.d.Looks, at, at}
	})
}
