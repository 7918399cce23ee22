package ratelimit

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"time"

	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"

	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/core/plan"
)

// maxCallers is the maximum number of callers per scope in memory, about 200 bytes each. If there are more, the least
// recently active caller is dropped and has its whole quota again. Callers cannot use this to evade limits, because
// 65,536 other keys would have to call within 15 to 30 seconds.
const maxCallers = 65_536

// RatesOptions configure Rates.
type RatesOptions struct {
	// Redis is the URL (redis://… or rediss://…) of a Redis server that all nodes share. If it is empty, each node
	// counts its own calls.
	Redis string
	Now   func() time.Time // time.Now if nil
	Log   *slog.Logger     // logs Redis outages; may be nil
}

// Rates limits the rates of callers. It counts the calls of all nodes in Redis. If Redis is not configured or does not
// respond, each node counts its own calls. Rejected calls are not counted.
type Rates struct {
	scopeLimits map[pipeline.Scope]*scopeLimit
	shared      *sharedLimits // nil if Redis is not configured
}

// NewRates returns a Rates with the given limits. If Redis does not respond, NewRates does not return an error: the
// node counts its own calls until Redis responds.
func NewRates(limits plan.Limits, opts RatesOptions) (*Rates, error) {
	return newRates(limits, opts, responseTimeout)
}

func newRates(limits plan.Limits, opts RatesOptions, redisTimeout time.Duration) (*Rates, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	r := &Rates{scopeLimits: map[pipeline.Scope]*scopeLimit{}}
	for scope, rate := range map[pipeline.Scope]plan.Rate{
		pipeline.PerCredential: limits.Requests, pipeline.PerConnection: limits.Writes,
		pipeline.PerProvider: limits.Networks,
	} {
		l, err := newScopeLimit(scope, rate, opts.Now)
		if err != nil {
			return nil, fmt.Errorf("creating the limit of scope %s: %w", scope, err)
		}
		r.scopeLimits[scope] = l
	}
	if opts.Redis == "" {
		return r, nil
	}
	return r, r.useRedis(opts, redisTimeout)
}

// Take counts a call and returns the state of the caller's limit. caller is an ID whose meaning depends on the scope.
// Take returns within a fraction of a second even if Redis hangs.
func (r *Rates) Take(ctx context.Context, scope pipeline.Scope, caller int64) pipeline.Rate {
	l := r.scopeLimits[scope]
	if r.shared != nil {
		if rate, ok := r.shared.take(ctx, l, caller); ok {
			return rate
		}
	}
	// RateLimitCtx cannot fail here: the in-memory store never returns an error, and the compare-and-swap is retried
	// without limit.
	limited, result, _ := l.memory.RateLimitCtx(ctx, strconv.FormatInt(caller, 10), 1)
	return l.newRate(limited, result)
}

// RedisStatus reports whether Redis is configured, and whether Redis responds. During an outage it queries Redis only
// every few seconds.
func (r *Rates) RedisStatus(ctx context.Context) (bool, bool) {
	if r.shared == nil {
		return false, false
	}
	return true, r.shared.isAvailable(ctx)
}

// Close closes the connections to Redis.
func (r *Rates) Close() error {
	if r.shared == nil {
		return nil
	}
	return r.shared.store.close()
}

// scopeLimit is the rate limit of a scope. Calls are counted in memory or in Redis.
type scopeLimit struct {
	scope         pipeline.Scope
	quota         throttled.RateQuota
	window        time.Duration // until the whole quota is available again
	memory, redis *throttled.GCRARateLimiterCtx
}

func newScopeLimit(scope pipeline.Scope, rate plan.Rate, now func() time.Time) (*scopeLimit, error) {
	if rate.PerMinute < 1 || rate.Burst < 1 {
		return nil, fmt.Errorf("%d per minute with a burst of %d: both must be at least 1", rate.PerMinute, rate.Burst)
	}
	l := &scopeLimit{
		scope:  scope,
		quota:  throttled.RateQuota{MaxRate: throttled.PerMin(rate.PerMinute), MaxBurst: rate.Burst - 1},
		window: time.Minute / time.Duration(rate.PerMinute) * time.Duration(rate.Burst),
	}
	store, err := memstore.New(maxCallers)
	if err != nil {
		return nil, fmt.Errorf("creating the in-memory store: %w", err)
	}
	store.SetTimeNow(now)
	l.memory, err = newGCRALimiter(throttled.WrapStoreWithContext(store), l.quota)
	return l, err
}

// newGCRALimiter returns a limiter that retries for as long as other callers change the same count. An attempt fails
// only if another caller's attempt succeeds. With Redis, the call's deadline ends the retries.
func newGCRALimiter(store throttled.GCRAStoreCtx, quota throttled.RateQuota) (*throttled.GCRARateLimiterCtx, error) {
	limiter, err := throttled.NewGCRARateLimiterCtx(store, quota)
	if err != nil {
		return nil, fmt.Errorf("creating the limiter: %w", err)
	}
	limiter.SetMaxCASAttemptsLimit(math.MaxInt)
	return limiter, nil
}

func (l *scopeLimit) newRate(limited bool, result throttled.RateLimitResult) pipeline.Rate {
	return pipeline.Rate{
		Scope:      l.scope,
		Quota:      result.Limit,
		Window:     l.window,
		Remaining:  result.Remaining,
		Reset:      result.ResetAfter,
		Limited:    limited,
		RetryAfter: max(result.RetryAfter, 0), // -1 for allowed calls
	}
}
