package ratelimit

import (
	"context"
	"strconv"
	"time"

	"github.com/throttled/throttled/v2"

	"pressroom/internal/core/pipeline"
)

// lanes is how many keys of a node are counted in Redis at a time; a power of two.
const lanes = 256

// shared counts in the Redis of all nodes while it answers.
type shared struct {
	store  *redisStore
	outage *outage
	within time.Duration // how long a call waits for an answer
	try    *throttled.GCRARateLimiterCtx
	// Calls of one key go to Redis one after the other. Together they would take each other's turns away and try
	// again and again; other nodes' calls are few enough for that.
	lanes [lanes]chan struct{}
}

// share has the rates counted in a Redis too.
func (r *Rates) share(opts RatesOptions, within time.Duration) error {
	store, err := newRedisStore(opts.Redis)
	if err != nil {
		return err
	}
	s := &shared{
		store: store, within: within, outage: &outage{now: opts.Now, log: opts.Log.With("redis", store.opts.Addr)},
	}
	for i := range s.lanes {
		s.lanes[i] = make(chan struct{}, 1)
	}
	for _, g := range r.gauges {
		if g.redis, err = newLimiter(store, g.quota); err != nil {
			return err
		}
	}
	// Of a limit that nobody reaches.
	if s.try, err = newLimiter(store,
		throttled.RateQuota{MaxRate: throttled.PerSec(1000), MaxBurst: 100_000}); err != nil {
		return err
	}
	r.shared = s
	ctx := context.Background()
	s.settle(ctx, s.outage.turn.Load(), s.ask(ctx, max(startWithin, within)))
	return nil
}

// take counts a call in Redis; false where that cannot be done in time.
func (s *shared) take(ctx context.Context, g *gauge, who int64) (pipeline.Rate, bool) {
	s.tryAgain(ctx)
	turn := s.outage.turn.Load()
	if away(turn) {
		return pipeline.Rate{}, false
	}
	ctx, cancel := deadline(ctx, s.within)
	defer cancel()
	lane := s.lanes[who&(lanes-1)]
	select {
	case lane <- struct{}{}:
		defer func() { <-lane }()
	case <-ctx.Done(): // too many of one key; Redis may be well
		return pipeline.Rate{}, false
	}
	if s.outage.turn.Load() != turn { // whoever was before us in the lane knows that it does not answer
		return pipeline.Rate{}, false
	}
	limited, result, err := g.redis.RateLimitCtx(ctx, string(g.scope)+":"+strconv.FormatInt(who, 10), 1)
	s.settle(ctx, turn, err)
	return g.rate(limited, result), err == nil
}

// answers tells whether Redis answers now.
func (s *shared) answers(ctx context.Context) bool {
	s.tryAgain(ctx)
	turn := s.outage.turn.Load()
	if away(turn) {
		return false
	}
	err := s.ask(ctx, s.within)
	s.settle(ctx, turn, err)
	return err == nil
}

// tryAgain asks Redis whether it is back, where it is away and it is time for that.
func (s *shared) tryAgain(ctx context.Context) {
	if turn, mine := s.outage.myTurn(); mine {
		s.settle(ctx, turn, s.ask(ctx, s.within))
	}
}

// ask has Redis do everything that counting needs: to make a count, and to change one. A Redis that only reads, or
// that is full, answers a ping.
func (s *shared) ask(ctx context.Context, within time.Duration) error {
	ctx, cancel := deadline(ctx, within)
	defer cancel()
	for range 2 {
		if _, _, err := s.try.RateLimitCtx(ctx, "try", 1); err != nil {
			return err //nolint:wrapcheck // it is our store's
		}
	}
	return nil
}

// settle notes what came of asking Redis in a turn.
func (s *shared) settle(ctx context.Context, turn uint64, err error) {
	switch {
	case err == nil:
		s.outage.answered(ctx, turn)
	case s.outage.failed(ctx, turn, s.store.said(err)):
		if err := s.store.renew(); err != nil {
			s.outage.log.DebugContext(ctx, "old connections to Redis were not closed as they should be", "error",
				s.store.said(err))
		}
	}
}

// deadline bounds how long Redis may take. It outlasts the request, as a client that hung up says nothing about Redis.
func deadline(ctx context.Context, within time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), within)
}
