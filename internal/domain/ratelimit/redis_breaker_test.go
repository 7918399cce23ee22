package ratelimit

import (
	"log/slog"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit"
)

// TestResultsFromBeforeOutage checks that results of calls from before an outage are ignored.
func TestResultsFromBeforeOutage(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	o := &breaker{now: clock.Now, log: slog.New(slog.DiscardHandler)}
	ctx := t.Context()
	if !o.recordFailure(ctx, 0, "it hangs") {
		t.Fatal("no outage was detected")
	}
	o.recordSuccess(ctx, 0)
	if o.recordFailure(ctx, 0, "it hangs") || o.epoch.Load() != 1 {
		t.Errorf("turn %d, want the first outage", o.epoch.Load())
	}
	if _, mine := o.startProbe(); mine {
		t.Error("Redis was probed again immediately")
	}
	clock.Advance(probeInterval)
	if turn, mine := o.startProbe(); !mine || turn != 1 {
		t.Errorf("probe in epoch %d: %t", turn, mine)
	}
	if _, mine := o.startProbe(); mine {
		t.Error("two callers probe concurrently")
	}
	if o.recordFailure(ctx, 1, "it hangs") {
		t.Error("an outage begins within one")
	}
	clock.Advance(probeInterval)
	o.startProbe()
	o.recordSuccess(ctx, 1)
	if o.recordFailure(ctx, 0, "it hangs") || o.recordFailure(ctx, 1, "it hangs") || o.epoch.Load() != 2 {
		t.Errorf("turn %d, want the end of the outage", o.epoch.Load())
	}
}
