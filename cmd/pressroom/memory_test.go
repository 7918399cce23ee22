package main

import (
	"runtime"
	"testing"
	"time"
)

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	for kept, want := range map[uint64]int64{0: lightly, 30 << 20: lightly, 36 << 20: lightly, 40 << 20: 104 << 20, 1 << 30: 2<<30 + beside} {
		if got := limitFor(kept); got != want {
			t.Errorf("with %d bytes kept: %d, want %d", kept, got, want)
		}
	}
	runtime.GC() // a short run has none of its own
	if kept() == 0 {
		t.Error("the runtime does not tell what a collection left")
	}
}

func TestAfterEachCollection(t *testing.T) {
	t.Parallel()
	ran := make(chan struct{}, 100)
	afterEachCollection(func() { ran <- struct{}{} })
	for n := range 4 { // once at the beginning
		runtime.GC()
		select {
		case <-ran:
		case <-time.After(time.Minute):
			t.Fatalf("nothing was called after collection %d", n)
		}
	}
}

func TestGivesBackAtRest(t *testing.T) {
	t.Parallel()
	var r rest
	for i, c := range []struct {
		now  heapState
		want bool
	}{
		{heapState{asked: 40 << 20, held: 35 << 20, kept: 10 << 20}, false}, // it just started
		{heapState{asked: 40<<20 + resting, held: 35 << 20, kept: 10 << 20}, true},
		{heapState{asked: 41<<20 + 2*resting, held: 36 << 20, kept: 10 << 20}, false}, // it works
		{heapState{asked: 41<<20 + 2*resting, held: 10<<20 + giving, kept: 10 << 20}, false},
		{heapState{asked: 41<<20 + 2*resting, held: 11<<20 + giving, kept: 10 << 20}, true},
	} {
		if got := r.wastes(c.now); got != c.want {
			t.Errorf("look %d: %t, want %t", i, got, c.want)
		}
	}
	if now := heap(); now.asked == 0 || now.held == 0 {
		t.Errorf("the runtime does not tell of the heap: %+v", now)
	}
}
