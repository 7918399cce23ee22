package ratelimit

import (
	"log/slog"
	"testing"
	"time"

	"pressroom/internal/testkit"
)

// What was asked before an outage says nothing about it, whichever way it ends.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	o := &outage{now: clock.Now, log: slog.New(slog.DiscardHandler)}
	ctx := t.Context()
	if !o.failed(ctx, 0, "it hangs") {
		t.Fatal("no outage begins")
	}
	o.answered(ctx, 0)
	if o.failed(ctx, 0, "it hangs") || o.turn.Load() != 1 {
		t.Errorf("turn %d, want the first outage", o.turn.Load())
	}
	if _, mine := o.myTurn(); mine {
		t.Error("it is asked again at once")
	}
	clock.Advance(outagePause)
	if turn, mine := o.myTurn(); !mine || turn != 1 {
		t.Errorf("asked in turn %d: %t", turn, mine)
	}
	if _, mine := o.myTurn(); mine {
		t.Error("two ask at the same time")
	}
	if o.failed(ctx, 1, "it hangs") {
		t.Error("an outage begins within one")
	}
	clock.Advance(outagePause)
	o.myTurn()
	o.answered(ctx, 1)
	if o.failed(ctx, 0, "it hangs") || o.failed(ctx, 1, "it hangs") || o.turn.Load() != 2 {
		t.Errorf("turn %d, want the end of the outage", o.turn.Load())
	}
}
