package delivery

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/tracing"
)

// Deliver processes a delivery until it ends or must wait. It can be called repeatedly and on several nodes, because
// only one caller can hold the lease. It returns an error only if acquiring the lease fails, and logs later errors.
func (s *Service) Deliver(ctx context.Context, id string) error {
	claimedAt := s.instant()
	d, acquired, err := s.claim(ctx, id)
	if err != nil || !acquired {
		return err
	}
	ctx, span := tracing.StartLinked(ctx, "delivery", d.Trace)
	span.Set("pressroom.delivery_id", d.ID)
	span.Set("pressroom.post_id", d.PostID)
	span.Set("pressroom.phase", string(d.Phase))
	span.SetID("pressroom.team_id", d.TeamID)
	span.SetID("pressroom.attempt", d.Epoch)
	a := &attempt{s: s, d: d}
	a.leaseConfirmed.Store(&claimedAt)
	leaseCtx, release := job.KeepLease(ctx, s.opts.Lease, func(ctx context.Context) error { return a.renewLease(ctx, d) })
	defer release()
	err = a.run(leaseCtx)
	span.Set("pressroom.phase_after", string(a.d.Phase))
	span.End(err)
	if err != nil && !errors.Is(err, errLeaseLost) {
		// The lease expires, and the waker wakes the delivery again.
		s.log.ErrorContext(ctx, "Delivery attempt failed; it is retried when its lease expires", "delivery", d.ID,
			"post", d.PostID, "error", err)
	}
	return nil
}

// attempt is the work of one lease holder on a delivery.
type attempt struct {
	s               *Service
	d               delivery
	net             network.Network
	grant           account.Grant
	refreshed       bool                    // whether the grant was renewed in this phase
	committedBefore bool                    // whether an earlier commit was inconclusive; the next one needs a lookup
	done            bool                    // whether the attempt ended or postponed the delivery
	server          server                  // the account's server
	leaseConfirmed  atomic.Pointer[instant] // when the lease was last confirmed
}

// renewLease renews the lease and records the time. It reads the clock before the query, so that it never overestimates
// the remaining time of the lease.
func (a *attempt) renewLease(ctx context.Context, d delivery) error {
	at := a.s.instant()
	if err := a.s.renewLease(ctx, d); err != nil {
		return err
	}
	a.leaseConfirmed.Store(&at)
	return nil
}

// run processes the phases of the delivery until it ends or must wait.
func (a *attempt) run(ctx context.Context) error {
	if err := a.connect(ctx); err != nil {
		return err
	}
	a.server = server{a.grant.Platform, a.grant.Server}
	defer a.s.breakers.releaseProbes(a.d.ID)
	for !a.done {
		if err := a.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// mayCall reports whether all circuits allow a call. If not, it returns how long to wait. The circuit of a server other
// than the account's, such as Bluesky's video service, applies only to deliveries that failed there.
func (a *attempt) mayCall() (time.Duration, bool) {
	for _, s := range append(a.s.breakers.otherFailedServers(a.server, a.d.ID), a.server) {
		if wait, ok := a.s.breakers.allow(s, a.d.ID); !ok {
			return wait, false
		}
	}
	return 0, true
}

// step makes the network call of the current phase. An open circuit delays only deliveries whose commit has not
// started.
func (a *attempt) step(ctx context.Context) error {
	if a.d.Phase == phasePlanned || a.d.Phase == phasePrepared {
		if wait, ok := a.mayCall(); !ok {
			return a.waitForCircuit(ctx, wait)
		}
	}
	switch a.d.Phase {
	case phasePlanned:
		return a.prepare(ctx)
	case phasePrepared:
		return a.commit(ctx)
	case phaseLinking:
		return a.fetchPermalink(ctx)
	case phaseFinishing:
		return a.finishSteps(ctx)
	case phaseCommitting, phaseUnconfirmed, phaseEnded:
	}
	return a.resolve(ctx)
}

// connect reads the account's network and grant. It ends the delivery if the connection to the account is lost.
func (a *attempt) connect(ctx context.Context) error {
	var err error
	if a.grant, err = a.s.accounts.Grant(ctx, a.d.AccountID); err != nil {
		return err
	}
	if a.net, err = a.s.accounts.Network(a.grant.Platform); err != nil {
		return err
	}
	if a.grant.Lost && !a.d.Phase.isPublished() {
		return a.handleLostGrant(ctx, "")
	}
	return nil
}
