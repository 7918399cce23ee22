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
