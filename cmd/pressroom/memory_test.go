package main

import (
	"runtime"
	"testing"
	"time"
)

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	for kept, want := range map[uint64]int64{
		0: softMemoryLimit, 30 << 20: softMemoryLimit, 36 << 20: softMemoryLimit, 40 << 20: 104 << 20,
		1 << 30: 2<<30 + nonHeapMemory,
	} {
		if got := memoryLimit(kept); got != want {
			t.Errorf("with %d bytes kept: %d, want %d", kept, got, want)
		}
	}
	runtime.GC() // otherwise, a short test may end before the first collection
	if liveHeap() == 0 {
		t.Error("the runtime does not report the live heap")
	}
}

func TestCollectMemory(t *testing.T) {
	t.Parallel()
	ran := make(chan struct{}, 100)
	afterEachCollection(func() { ran <- struct{}{} })
	for n := range 4 { // the first call must not be the only one
		runtime.GC()
		select {
		case <-ran:
		case <-time.After(time.Minute):
			t.Fatalf("nothing was called after collection %d", n)
		}
	}
}

func TestIdleMemoryReleased(t *testing.T) {
	t.Parallel()
	var r idleDetector
	for i, c := range []struct {
		now  heapState
		want bool
	}{
		{heapState{allocated: 40 << 20, held: 35 << 20, live: 10 << 20}, false}, // it just started
		{heapState{allocated: 40<<20 + maxIdleAllocation, held: 35 << 20, live: 10 << 20}, true},
		{heapState{allocated: 41<<20 + 2*maxIdleAllocation, held: 36 << 20, live: 10 << 20}, false}, // it is busy
		{heapState{allocated: 41<<20 + 2*maxIdleAllocation, held: 10<<20 + minReclaimable, live: 10 << 20}, false},
		{heapState{allocated: 41<<20 + 2*maxIdleAllocation, held: 11<<20 + minReclaimable, live: 10 << 20}, true},
	} {
		if got := r.shouldReturn(c.now); got != c.want {
			t.Errorf("check %d: %t, want %t", i, got, c.want)
		}
	}
	if now := heap(); now.allocated == 0 || now.held == 0 {
		t.Errorf("the runtime does not report the heap: %+v", now)
	}
}
