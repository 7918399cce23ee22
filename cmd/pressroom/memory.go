package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// gcPercent is higher than the default to save CPU time. The live heap is small compared with the allocations of
	// each request, so the collector would otherwise run very often.
	gcPercent = 400
	// softMemoryLimit is the memory limit of the Go runtime in bytes. With this limit, the process, including SQLite
	// and the program text, stays below 200 MB while a thousand assistants send calls at the same time.
	softMemoryLimit = 96 << 20
	// nonHeapMemory is the allowance for the memory of the runtime outside the heap, in bytes.
	nonHeapMemory = 24 << 20
	// idleCheckInterval is the time between two checks of whether the program is idle. It is idle if at most
	// maxIdleAllocation bytes were allocated since the last check. A collection is worthwhile if it can free
	// minReclaimable bytes.
	idleCheckInterval = 2 * time.Second
	maxIdleAllocation = 1 << 20
	minReclaimable    = 4 << 20
)

// tuneCollector configures the garbage collector, unless GOGC or GOMEMLIMIT is set.
func tuneCollector() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(gcPercent)
	set := int64(softMemoryLimit)
	debug.SetMemoryLimit(set)
	afterEachCollection(func() {
		if limit := memoryLimit(liveHeap()); limit != set {
			set = limit
			debug.SetMemoryLimit(limit)
		}
	})
	go returnMemory()
}

// returnMemory returns unused memory to the system whenever the program becomes idle. Otherwise, memory that was used
// at the start or during a peak would be kept for minutes, because the collector runs rarely.
func returnMemory() {
	var r idleDetector
	for range time.Tick(idleCheckInterval) {
		if r.shouldReturn(heap()) {
			debug.FreeOSMemory()
		}
	}
}

// heapState contains numbers of bytes of the heap: allocated since the start, currently held, and live at the last
// collection.
type heapState struct{ allocated, held, live uint64 }

// idleDetector detects when the program is idle. It stores the number of allocated bytes at the last check.
type idleDetector struct{ allocated uint64 }

// shouldReturn reports whether the program is idle and enough memory can be reclaimed.
func (r *idleDetector) shouldReturn(state heapState) bool {
	quiet := state.allocated-r.allocated <= maxIdleAllocation
	r.allocated = state.allocated
	return quiet && state.held > state.live+minReclaimable
}

// memoryLimit returns the memory limit for a live heap of the given size: softMemoryLimit, or twice the live heap plus
// nonHeapMemory if that is more. With a fixed limit, the collector would run continuously once the live heap reaches
// it.
func memoryLimit(live uint64) int64 {
	return max(softMemoryLimit, 2*int64(live)+nonHeapMemory) //nolint:gosec // no machine has so much memory
}

// liveHeap returns the number of bytes that were live at the last collection.
func liveHeap() uint64 { return runtimeMetric("/gc/heap/live:bytes") }

func heap() heapState {
	return heapState{
		allocated: runtimeMetric("/gc/heap/allocs:bytes"), held: runtimeMetric("/memory/classes/heap/objects:bytes"),
		live: liveHeap(),
	}
}

// runtimeMetric returns a metric of the Go runtime, or 0 if it does not exist.
func runtimeMetric(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// afterEachCollection calls fn after every run of the garbage collector, one call at a time. It uses the finalizer of
// an object, and creates a new object each time.
func afterEachCollection(fn func()) {
	type sentinel struct{ number *int }
	var next func(*sentinel)
	next = func(*sentinel) {
		fn()
		runtime.SetFinalizer(&sentinel{new(int)}, next)
	}
	next(nil)
}
