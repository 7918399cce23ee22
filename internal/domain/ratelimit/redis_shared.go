package ratelimit

import (
	"context"
	"strconv"
	"time"

	"github.com/throttled/throttled/v2"

	"pressroom.example/pressroom/internal/core/pipeline"
)

// numShards is the maximum number of concurrent Redis calls per node. It is a power of two.
const numShards = 256

// sharedLimits counts the calls of all nodes in Redis while Redis responds.
type sharedLimits struct {
	store   *redisStore
	breaker *breaker
	timeout time.Duration // timeout for a call
	prober  *throttled.GCRARateLimiterCtx
	// Calls with the same key are sent to Redis sequentially, because concurrent calls would often retry their
	// compare-and-swap.
	shards [numShards]chan struct{}
}

// useRedis makes r count calls in Redis.
func (r *Rates) useRedis(opts RatesOptions, timeout time.Duration) error {
	store, err := newRedisStore(opts.Redis)
	if err != nil {
		return err
	}
	s := &sharedLimits{
		store: store, timeout: timeout, breaker: &breaker{now: opts.Now, log: opts.Log.With("redis", store.opts.Addr)},
	}
	for i := range s.shards {
		s.shards[i] = make(chan struct{}, 1)
	}
	for _, l := range r.scopeLimits {
		if l.redis, err = newGCRALimiter(store, l.quota); err != nil {
			return err
		}
	}
	// Probes never reach this limit.
	if s.prober, err = newGCRALimiter(store,
		throttled.RateQuota{MaxRate: throttled.PerSec(1000), MaxBurst: 100_000}); err != nil {
		return err
	}
	r.shared = s
	ctx := context.Background()
	s.record(ctx, s.breaker.epoch.Load(), s.probe(ctx, max(startTimeout, timeout)))
	return nil
}

// take counts a call in Redis. It reports whether Redis responded in time.
func (s *sharedLimits) take(ctx context.Context, l *scopeLimit, caller int64) (pipeline.Rate, bool) {
	s.probeIfDue(ctx)
	epoch := s.breaker.epoch.Load()
	if isOutage(epoch) {
		return pipeline.Rate{}, false
	}
	ctx, cancel := withDeadline(ctx, s.timeout)
	defer cancel()
	shard := s.shards[caller&(numShards-1)]
	select {
	case shard <- struct{}{}:
		defer func() { <-shard }()
	case <-ctx.Done(): // too many calls with the same key; this may not be an outage
		return pipeline.Rate{}, false
	}
	if s.breaker.epoch.Load() != epoch { // an outage began while this call waited
		return pipeline.Rate{}, false
	}
	limited, result, err := l.redis.RateLimitCtx(ctx, string(l.scope)+":"+strconv.FormatInt(caller, 10), 1)
	s.record(ctx, epoch, err)
	return l.newRate(limited, result), err == nil
}

// isAvailable reports whether Redis responds now.
func (s *sharedLimits) isAvailable(ctx context.Context) bool {
	s.probeIfDue(ctx)
	epoch := s.breaker.epoch.Load()
	if isOutage(epoch) {
		return false
	}
	err := s.probe(ctx, s.timeout)
	s.record(ctx, epoch, err)
	return err == nil
}

// probeIfDue probes Redis during an outage if the next probe is due.
func (s *sharedLimits) probeIfDue(ctx context.Context) {
	if epoch, due := s.breaker.startProbe(); due {
		s.record(ctx, epoch, s.probe(ctx, s.timeout))
	}
}

// probe creates and changes a count. A ping would succeed even if Redis is read-only or full.
func (s *sharedLimits) probe(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := withDeadline(ctx, timeout)
	defer cancel()
	for range 2 {
		if _, _, err := s.prober.RateLimitCtx(ctx, "try", 1); err != nil {
			return err //nolint:wrapcheck // redisStore wraps it
		}
	}
	return nil
}

// record records the result of a call to Redis that began in an epoch.
func (s *sharedLimits) record(ctx context.Context, epoch uint64, err error) {
	switch {
	case err == nil:
		s.breaker.recordSuccess(ctx, epoch)
	case s.breaker.recordFailure(ctx, epoch, s.store.redact(err)):
		if err := s.store.renew(); err != nil {
			s.breaker.log.DebugContext(ctx, "closing old connections to Redis failed", "error", s.store.redact(err))
		}
	}
}

// withDeadline returns a context that has a timeout and ignores the cancellation of ctx, because a client that
// disconnects is not a Redis failure.
func withDeadline(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), timeout)
}
