// Package ratelimit limits the rate of calls, their number per day, and repeated attempts with wrong credentials.
package ratelimit

import "time"

const (
	guessesPerMinute = 10 // sustained rate of attempts with the same wrong credential
	guessesBurst     = 20 // attempts in quick succession
)

// GuessLimiter limits repeated attempts with the same wrong credential. Each process counts separately.
type GuessLimiter struct{ limiter *Limiter }

// NewGuessLimiter returns a GuessLimiter.
func NewGuessLimiter() (*GuessLimiter, error) {
	limiter, err := NewLimiter(60*guessesPerMinute, guessesBurst)
	return &GuessLimiter{limiter}, err
}

// RecordFailure counts a failed attempt with a credential. It returns how long to wait before the next attempt, or 0.
func (g *GuessLimiter) RecordFailure(credential string) time.Duration {
	return g.limiter.Take(credential)
}
