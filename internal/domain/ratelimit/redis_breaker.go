package ratelimit

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const probeInterval = 3 * time.Second // time between two probes during an outage

// breaker is a circuit breaker for Redis. One caller at a time probes whether an outage is over.
type breaker struct {
	now func() time.Time
	log *slog.Logger
	// epoch increases when an outage begins and when it ends. During an outage it is odd. Results of calls that began
	// in an earlier epoch are ignored.
	epoch atomic.Uint64

	mu        sync.Mutex
	since     time.Time // start of the outage
	nextProbe time.Time // time of the next probe
	probing   bool      // a probe is running
}

// isOutage reports whether an epoch is an outage.
func isOutage(epoch uint64) bool { return epoch%2 == 1 }

// startProbe reports whether the caller should probe Redis. If so, the caller must call recordSuccess or recordFailure
// with the returned epoch.
func (o *breaker) startProbe() (uint64, bool) {
	if !isOutage(o.epoch.Load()) {
		return 0, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	epoch := o.epoch.Load()
	if !isOutage(epoch) || o.probing || o.now().Before(o.nextProbe) {
		return 0, false
	}
	o.probing = true
	return epoch, true
}

// recordSuccess records that Redis responded to a call that began in an epoch. If it was a probe, the outage ends.
func (o *breaker) recordSuccess(ctx context.Context, epoch uint64) {
	if !isOutage(epoch) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.probing = false
	o.epoch.Add(1)
	o.log.InfoContext(ctx, "Redis is back: rate limits are shared by all nodes again",
		"away", o.now().Sub(o.since).Round(time.Millisecond).String())
}

// recordFailure records that a call to Redis that began in an epoch failed, and reports whether this failure starts an
// outage.
func (o *breaker) recordFailure(ctx context.Context, epoch uint64, text string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.epoch.Load() != epoch {
		return false
	}
	o.nextProbe = o.now().Add(probeInterval)
	if isOutage(epoch) {
		o.probing = false
		return false
	}
	o.since = o.now()
	o.epoch.Add(1)
	o.log.WarnContext(ctx, "Redis does not respond: this node counts its own calls until it does", "error", text)
	return true
}
