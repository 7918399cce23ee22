package delivery

import (
	"context"
	"errors"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxPrepareTime      = time.Hour       // how long a network may prepare media
	maxProcessingTime   = 2 * time.Hour   // how long a network may process a commit before the outcome counts as unknown
	maxPollInterval     = time.Minute     // maximum time between two lookups while a network is processing
	defaultPollInterval = 5 * time.Second // used if the network does not suggest an interval
	firstPermalinkDelay = 2 * time.Second // time before the first lookup of a permalink
	maxPermalinkLookups = 8               // number of lookups after which the delivery ends without a permalink
	// maxOutageWait is how long a delivery waits while its network fails, before the delivery fails too.
	maxOutageWait = 30 * time.Minute
)

// waitUntilReady waits while the network prepares media. After maxPrepareTime, the delivery fails. This is safe,
// because nothing is public yet.
func (a *attempt) waitUntilReady(ctx context.Context, wait time.Duration) error {
	if a.s.db.Now().Sub(a.d.CreatedAt) > maxPrepareTime {
		return a.finish(ctx, phaseEnded, failedResult("network_error", ""))
	}
	if err := a.saveDraft(ctx, "delivery.preparing"); err != nil {
		return err
	}
	return a.postpone(ctx, min(wait, maxPollInterval))
}

// waitForNetwork waits while the network processes a commit.
func (a *attempt) waitForNetwork(ctx context.Context, err error) error {
	if a.d.Phase == phaseUnconfirmed || a.s.db.Now().Sub(a.d.CreatedAt) > maxProcessingTime {
		return a.lookUpLater(ctx, err)
	}
	a.d.Lookups = 0 // The network responds again.
	wait := defaultPollInterval
	if e, ok := errors.AsType[*network.Error](err); ok && !e.RetryAt.IsZero() {
		wait = max(time.Second, min(e.RetryAt.Sub(a.s.db.Now()), maxPollInterval))
	}
	return a.postpone(ctx, wait)
}
