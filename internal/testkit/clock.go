package testkit

import (
	"sync"
	"time"
)

// Clock is a clock that moves only when a test advances it.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock returns a clock stopped at a time.
func NewClock(at time.Time) *Clock { return &Clock{at: at} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
