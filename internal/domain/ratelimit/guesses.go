// Package ratelimit counts what callers do and tells them when to wait.
package ratelimit

import "time"

const (
	guessesPerMinute = 10 // how often one wrong credential may be repeated in the long run
	guessesBurst     = 20 // and how often at once
)

// Guesses slows down the repeating of one wrong credential. It counts in this process alone.
type Guesses struct{ pace *Pace }

// NewGuesses makes the counter.
func NewGuesses() (*Guesses, error) {
	pace, err := NewPace(60*guessesPerMinute, guessesBurst)
	return &Guesses{pace}, err
}

// Wrong notes a failure of a credential and tells how long to wait before the next; 0 while that is not needed.
func (g *Guesses) Wrong(credential string) time.Duration { return g.pace.Step(credential) }
