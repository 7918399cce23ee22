package delivery

import (
	"context"
	"errors"
	"time"

	"pressroom/internal/network"
)

const (
	maxPrepareTime      = time.Hour       // how long a network may make ready what it was given
	maxProcessingTime   = 2 * time.Hour   // how long it may work on what was committed before that counts as no answer
	maxPollInterval     = time.Minute     // between two looks at what a network works on
	defaultPollInterval = 5 * time.Second // where it does not say
	firstPermalinkDelay = 2 * time.Second // after which a network is asked where a post stands
	maxPermalinkLookups = 8               // times it is asked
	// How long a delivery rests in all while its network fails, about as long as a person would try again by hand.
	maxOutageWait = 30 * time.Minute
)

// waitUntilReady rests while the network makes ready what it was given. Where that takes too long nothing was shown.
func (a *attempt) waitUntilReady(ctx context.Context, wait time.Duration) error {
	if a.s.db.Now().Sub(a.d.CreatedAt) > maxPrepareTime {
		return a.finish(ctx, ended, failedResult("network_error", ""))
	}
	if err := a.saveDraft(ctx, "delivery.preparing"); err != nil {
		return err
	}
	return a.postpone(ctx, min(wait, maxPollInterval))
}

// waitForNetwork rests while the network works on what was committed.
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
