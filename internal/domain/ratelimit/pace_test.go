package ratelimit_test

import (
	"testing"
	"time"

	"pressroom/internal/domain/ratelimit"
	"pressroom/internal/testkit/must"
)

// Whoever does something too often waits, and nobody else does.
func TestPace(t *testing.T) {
	t.Parallel()
	p := must.Get(ratelimit.NewPace(60, 3))(t)
	for range 3 {
		if wait := p.Step("203.0.113.5"); wait != 0 {
			t.Fatalf("waits %s too early", wait)
		}
	}
	if wait := p.Step("203.0.113.5"); wait <= 0 || wait > time.Minute {
		t.Errorf("waits %s after too many", wait)
	}
	if wait := p.Step("203.0.113.6"); wait != 0 {
		t.Errorf("another one waits %s", wait)
	}
}
