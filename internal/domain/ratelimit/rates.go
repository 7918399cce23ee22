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

	"pressroom/internal/core/pipeline"
	"pressroom/internal/core/plan"
)

// ratesKept is how many callers of each scope are remembered in memory, about 200 bytes each; who called longest
// ago is forgotten first, and has the whole quota again. That is nobody's way around a limit: a caller is forgotten
// only after 65,536 others with keys of their own called within a window (15 s to 30 s of the shipped limits), at
// 20,000 calls a second after more than 3 s without a call.
const ratesKept = 65_536

// RatesOptions say where rates are counted.
type RatesOptions struct {
	// URL of the Redis that all nodes count in, redis://… or rediss://…; empty: each counts for itself
	Redis string
	Now   func() time.Time // the time of what is counted in memory, and of outages; time.Now where nil
	Log   *slog.Logger     // hears of outages; nobody does where nil
}

// Rates counts who does what how fast: all nodes together where there is a Redis that answers, else each node for
// itself. A call that is one too many is not counted.
type Rates struct {
	gauges map[pipeline.Scope]*gauge
	shared *shared // nil where every node counts for itself
}

// NewRates makes the counters of a service's limits. A Redis that does not answer is no error but an outage, as
// later; an address that is none is an error.
func NewRates(limits plan.Limits, opts RatesOptions) (*Rates, error) {
	return newRates(limits, opts, answerWithin)
}

func newRates(limits plan.Limits, opts RatesOptions, within time.Duration) (*Rates, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	r := &Rates{gauges: map[pipeline.Scope]*gauge{}}
	for scope, rate := range map[pipeline.Scope]plan.Rate{
		pipeline.PerCredential: limits.Requests, pipeline.PerConnection: limits.Writes,
		pipeline.PerProvider: limits.Networks,
	} {
		g, err := newGauge(scope, rate, opts.Now)
		if err != nil {
			return nil, fmt.Errorf("making the limit of scope %s: %w", scope, err)
		}
		r.gauges[scope] = g
	}
	if opts.Redis == "" {
		return r, nil
	}
	return r, r.share(opts, within)
}

// Take counts a call of a key or connection. It answers within a fraction of a second, whatever Redis does.
func (r *Rates) Take(ctx context.Context, scope pipeline.Scope, who int64) pipeline.Rate {
	g := r.gauges[scope]
	if r.shared != nil {
		if rate, ok := r.shared.take(ctx, g, who); ok {
			return rate
		}
	}
	// The store in memory knows no errors, and a turn that another caller took away is tried again without end.
	limited, result, _ := g.memory.RateLimitCtx(ctx, strconv.FormatInt(who, 10), 1)
	return g.rate(limited, result)
}

// Shared tells whether the nodes are to count together, and whether Redis answers. It asks Redis for that, but for
// a few seconds after Redis did not answer.
func (r *Rates) Shared(ctx context.Context) (bool, bool) {
	if r.shared == nil {
		return false, false
	}
	return true, r.shared.answers(ctx)
}

// Close ends the connections to Redis.
func (r *Rates) Close() error {
	if r.shared == nil {
		return nil
	}
	return r.shared.store.close()
}

// gauge is one scope's limit, counted in memory and in Redis.
type gauge struct {
	scope         pipeline.Scope
	quota         throttled.RateQuota
	window        time.Duration // until a whole quota is there again
	memory, redis *throttled.GCRARateLimiterCtx
}

func newGauge(scope pipeline.Scope, rate plan.Rate, now func() time.Time) (*gauge, error) {
	if rate.PerMinute < 1 || rate.Burst < 1 {
		return nil, fmt.Errorf("%d per minute and %d at once: both have to be at least 1", rate.PerMinute, rate.Burst)
	}
	g := &gauge{
		scope:  scope,
		quota:  throttled.RateQuota{MaxRate: throttled.PerMin(rate.PerMinute), MaxBurst: rate.Burst - 1},
		window: time.Minute / time.Duration(rate.PerMinute) * time.Duration(rate.Burst),
	}
	store, err := memstore.New(ratesKept)
	if err != nil {
		return nil, fmt.Errorf("making the store in memory: %w", err)
	}
	store.SetTimeNow(now)
	g.memory, err = newLimiter(throttled.WrapStoreWithContext(store), g.quota)
	return g, err
}

// newLimiter makes a limiter that goes on trying while others change the same count at the same time: each try of
// its that fails is one of theirs that succeeded. In Redis the deadline of the call ends it.
func newLimiter(store throttled.GCRAStoreCtx, quota throttled.RateQuota) (*throttled.GCRARateLimiterCtx, error) {
	limiter, err := throttled.NewGCRARateLimiterCtx(store, quota)
	if err != nil {
		return nil, fmt.Errorf("making the counter: %w", err)
	}
	limiter.SetMaxCASAttemptsLimit(math.MaxInt)
	return limiter, nil
}

func (g *gauge) rate(limited bool, result throttled.RateLimitResult) pipeline.Rate {
	return pipeline.Rate{
		Scope:      g.scope,
		Quota:      result.Limit,
		Window:     g.window,
		Remaining:  result.Remaining,
		Reset:      result.ResetAfter,
		Limited:    limited,
		RetryAfter: max(result.RetryAfter, 0), // -1 where the call may come
	}
}
