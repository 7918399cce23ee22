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

	mu          sync.Mutex
	outageStart time.Time // start of the outage
	nextProbe   time.Time // time of the next probe
	probing     bool      // a probe is running
}

// isOutage reports whether an epoch is an outage.
func isOutage(epoch uint64) bool { return epoch%2 == 1 }

// startProbe reports whether the caller should probe Redis. If so, the caller must call recordSuccess or recordFailure
// with the returned epoch.
func (b *breaker) startProbe() (uint64, bool) {
	if !isOutage(b.epoch.Load()) {
		return 0, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	epoch := b.epoch.Load()
	if !isOutage(epoch) || b.probing || b.now().Before(b.nextProbe) {
		return 0, false
	}
	b.probing = true
	return epoch, true
}

// recordSuccess records that Redis responded to a call that began in an epoch. If it was a probe, the outage ends.
func (b *breaker) recordSuccess(ctx context.Context, epoch uint64) {
	if !isOutage(epoch) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	b.epoch.Add(1)
	b.log.InfoContext(ctx, "Redis is back: rate limits are shared by all nodes again",
		"away", b.now().Sub(b.outageStart).Round(time.Millisecond).String())
}

// recordFailure records that a call to Redis that began in an epoch failed, and reports whether this failure starts an
// outage.
func (b *breaker) recordFailure(ctx context.Context, epoch uint64, errText string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.epoch.Load() != epoch {
		return false
	}
	b.nextProbe = b.now().Add(probeInterval)
	if isOutage(epoch) {
		b.probing = false
		return false
	}
	b.outageStart = b.now()
	b.epoch.Add(1)
	b.log.WarnContext(ctx, "Redis does not respond: this node counts its own calls until it does", "error", errText)
	return true
}
