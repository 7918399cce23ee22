// Package limit counts what callers do and tells them when to wait.
package limit

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"

	"pressroom/internal/secret"
)

const (
	guessesPerMinute = 10     // how often one wrong credential may be repeated in the long run
	guessesBurst     = 20     // and how often at once
	guessesKept      = 65_536 // wrong credentials remembered; the oldest are forgotten first
)

// Guesses slows down the repeating of one wrong credential. It counts in this process alone.
type Guesses struct{ limiter *throttled.GCRARateLimiterCtx }

// NewGuesses makes the counter.
func NewGuesses() (*Guesses, error) {
	store, err := memstore.NewCtx(guessesKept)
	if err != nil {
		return nil, fmt.Errorf("making the store of failed keys: %w", err)
	}
	limiter, err := throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{MaxRate: throttled.PerMin(guessesPerMinute), MaxBurst: guessesBurst - 1})
	if err != nil {
		return nil, fmt.Errorf("making the limit of failed keys: %w", err)
	}
	return &Guesses{limiter}, nil
}

// Wrong notes a failure of a credential and tells how long to wait before the next; 0 while that is not needed.
func (g *Guesses) Wrong(credential string) time.Duration {
	hash := secret.Hash(credential)
	limited, result, err := g.limiter.RateLimitCtx(context.Background(), hex.EncodeToString(hash[:]), 1)
	if err != nil || !limited {
		return 0
	}
	return result.RetryAfter
}
