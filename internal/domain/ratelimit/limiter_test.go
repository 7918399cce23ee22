package ratelimit_test

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/ratelimit"
)

func TestLimiter(t *testing.T) {
	t.Parallel()
	p, err := ratelimit.NewLimiter(60, 3)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if wait := p.Take("203.0.113.5"); wait != 0 {
			t.Fatalf("must wait %s before the limit is reached", wait)
		}
	}
	if wait := p.Take("203.0.113.5"); wait <= 0 || wait > time.Minute {
		t.Errorf("must wait %s after exceeding the limit", wait)
	}
	if wait := p.Take("203.0.113.6"); wait != 0 {
		t.Errorf("another key must wait %s", wait)
	}
}
