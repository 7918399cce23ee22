package source_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pressroom/internal/source"
)

// Whoever waits for a source holds nobody up, one works at a time, and after each nobody works for as long as it did.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns, began := source.NewTurns(), time.Now()
		type spell struct{ from, to time.Duration }
		spells := make(chan spell, 10)
		for range 3 {
			go func() {
				ctx, end := turns.Begin(t.Context())
				<-time.After(time.Minute) // all three at once
				if err := source.Working(ctx); err != nil {
					t.Error(err)
				}
				from := time.Since(began)
				if err := source.Working(ctx); err != nil { // it does already
					t.Error(err)
				}
				<-time.After(20 * time.Millisecond)
				source.Waiting(ctx)
				if aside := source.Aside(ctx); source.Working(aside) != nil {
					t.Error("aside, nobody waits")
				}
				end()
				end() // nothing more
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

func TestTurnsEndWithTheContext(t *testing.T) {
	t.Parallel()
	turns := source.NewTurns()
	first, end := turns.Begin(t.Context())
	defer end()
	if err := source.Working(first); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	second, end := turns.Begin(ctx)
	defer end()
	if err := source.Working(second); !errors.Is(err, context.Canceled) {
		t.Errorf("another turn: %v", err)
	}
	var none *source.Turns
	own, end := none.Begin(ctx)
	defer end()
	if source.Waiting(own); source.Working(own) != nil {
		t.Error("without turns nobody waits")
	}
}
