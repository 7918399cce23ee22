package ratelimit

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"

	"pressroom/internal/auth/apikey"
)

// paceKept is how many are told apart; the oldest are forgotten first.
const paceKept = 65_536

// Pace slows down what strangers may have us do, each by itself. It counts in this process alone.
type Pace struct{ limiter *throttled.GCRARateLimiterCtx }

// NewPace allows so many an hour in the long run, and so many at once.
func NewPace(anHour, atOnce int) (*Pace, error) {
	store, err := memstore.NewCtx(paceKept)
	if err != nil {
		return nil, fmt.Errorf("making the store of a pace: %w", err)
	}
	limiter, err := throttled.NewGCRARateLimiterCtx(store,
		throttled.RateQuota{MaxRate: throttled.PerHour(anHour), MaxBurst: atOnce - 1})
	if err != nil {
		return nil, fmt.Errorf("making a pace: %w", err)
	}
	return &Pace{limiter}, nil
}

// Step notes that somebody does it once more, and tells how long to wait first; 0 where that is not needed.
func (p *Pace) Step(who string) time.Duration {
	hash := apikey.Hash(who)
	limited, result, err := p.limiter.RateLimitCtx(context.Background(), hex.EncodeToString(hash[:]), 1)
	if err != nil || !limited {
		return 0
	}
	return result.RetryAfter
}
