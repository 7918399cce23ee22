package provider_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Waiting for a provider holds no slot. One goroutine works at a time, followed by a pause of the same length.
func TestLimiterPausesAfterWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns, began := provider.NewLimiter(), time.Now()
		type spell struct{ from, to time.Duration }
		spells := make(chan spell, 10)
		for range 3 {
			go func() {
				ctx, end := turns.Begin(t.Context())
				<-time.After(time.Minute) // all three wait concurrently
				if err := provider.Acquire(ctx); err != nil {
					t.Error(err)
				}
				from := time.Since(began)
				if err := provider.Acquire(ctx); err != nil { // already acquired
					t.Error(err)
				}
				<-time.After(20 * time.Millisecond)
				provider.Release(ctx)
				if aside := provider.WithoutSlot(ctx); provider.Acquire(aside) != nil {
					t.Error("aside, nobody waits")
				}
				end()
				end() // no effect
				spells <- spell{from - time.Minute, time.Since(began) - time.Minute}
			}()
		}
		const ms = time.Millisecond
		for _, want := range []spell{{0, 20 * ms}, {40 * ms, 60 * ms}, {80 * ms, 100 * ms}} {
			if got := <-spells; got != want {
				t.Errorf("worked %v, want %v", got, want)
			}
		}
	})
}

func TestAcquireEndsWithContext(t *testing.T) {
	t.Parallel()
	turns := provider.NewLimiter()
	first, end := turns.Begin(t.Context())
	defer end()
	must.NoError(t, provider.Acquire(first))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	second, end := turns.Begin(ctx)
	defer end()
	if err := provider.Acquire(second); !errors.Is(err, context.Canceled) {
		t.Errorf("another turn: %v", err)
	}
	var none *provider.Limiter
	own, end := none.Begin(ctx)
	defer end()
	if provider.Release(own); provider.Acquire(own) != nil {
		t.Error("a nil Limiter must not limit")
	}
}
