package ratelimit

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"

	"pressroom.example/pressroom/internal/auth/apikey"
)

// maxLimiterKeys is the maximum number of keys that a Limiter keeps. If there are more, it drops the least recently
// used.
const maxLimiterKeys = 65_536

// Limiter limits the rate of events per key. Each process counts separately.
type Limiter struct{ limiter *throttled.GCRARateLimiterCtx }

// NewLimiter returns a Limiter that allows perHour events per hour for each key, and burst events in quick succession.
func NewLimiter(perHour, burst int) (*Limiter, error) {
	store, err := memstore.NewCtx(maxLimiterKeys)
	if err != nil {
		return nil, fmt.Errorf("creating the store of a rate limiter: %w", err)
	}
	limiter, err := throttled.NewGCRARateLimiterCtx(store,
		throttled.RateQuota{MaxRate: throttled.PerHour(perHour), MaxBurst: burst - 1})
	if err != nil {
		return nil, fmt.Errorf("creating a rate limiter: %w", err)
	}
	return &Limiter{limiter}, nil
}

// Take counts an event for a key and returns 0. If the limit is reached, it returns how long to wait and does not count
// the event.
func (l *Limiter) Take(key string) time.Duration {
	hash := apikey.Hash(key)
	limited, result, err := l.limiter.RateLimitCtx(context.Background(), hex.EncodeToString(hash[:]), 1)
	if err != nil || !limited {
		return 0
	}
	return result.RetryAfter
}
