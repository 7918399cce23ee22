// Package ratelimit limits the rate of calls, their number per day, and repeated attempts with wrong credentials.
package ratelimit

import "time"

const (
	guessesPerMinute = 10 // sustained attempts with one wrong credential
	guessesBurst     = 20 // attempts in quick succession
)

// Guesses limits repeated attempts with the same wrong credential. It counts per process.
type Guesses struct{ limiter *Limiter }

// NewGuesses returns a Guesses.
func NewGuesses() (*Guesses, error) {
	pace, err := NewLimiter(60*guessesPerMinute, guessesBurst)
	return &Guesses{pace}, err
}

// Wrong counts a failed attempt with a credential. It returns how long to wait before the next attempt, or 0.
func (g *Guesses) Wrong(credential string) time.Duration { return g.limiter.Take(credential) }
