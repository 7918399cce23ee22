package delivery

import (
	"context"
	"errors"
	"time"

	"pressroom/internal/network"
)

const (
	maxPrepareTime      = time.Hour       // how long a network may prepare media
	maxProcessingTime   = 2 * time.Hour   // how long it may process a commit before that counts as no answer
	maxPollInterval     = time.Minute     // between two lookups while a network is processing
	defaultPollInterval = 5 * time.Second // if the network names none
	firstPermalinkDelay = 2 * time.Second // before the first lookup of a permalink
	maxPermalinkLookups = 8               // lookups before a post stays without one
	// How long a delivery waits in total while its network fails, about as long as a person would keep trying.
	maxOutageWait = 30 * time.Minute
)

// waitUntilReady waits while the network prepares media. After maxPrepareTime the delivery fails; nothing is public
// yet.
func (a *attempt) waitUntilReady(ctx context.Context, wait time.Duration) error {
	if a.s.db.Now().Sub(a.d.CreatedAt) > maxPrepareTime {
		return a.finish(ctx, ended, failedResult("network_error", ""))
	}
	if err := a.saveDraft(ctx, "delivery.preparing"); err != nil {
		return err
	}
	return a.postpone(ctx, min(wait, maxPollInterval))
}

// waitForNetwork waits while the network processes a commit.
func (a *attempt) waitForNetwork(ctx context.Context, err error) error {
	if a.d.Phase == doubtful || a.s.db.Now().Sub(a.d.CreatedAt) > maxProcessingTime {
		return a.lookUpLater(ctx, err)
	}
	rest := defaultPollInterval
	if e, ok := errors.AsType[*network.Error](err); ok && !e.After.IsZero() {
		rest = max(time.Second, min(e.After.Sub(a.s.db.Now()), maxPollInterval))
	}
	return a.postpone(ctx, rest)
}
