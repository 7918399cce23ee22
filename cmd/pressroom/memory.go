package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// gcPercent trades some memory for time: what the program keeps is small beside what each request makes, so that
	// the collector would run very often.
	gcPercent = 400
	// lightly is how many bytes the runtime may take before the collector runs more often than that. With what SQLite and
	// the program's own text take beside, the program stays below 200 MB while a thousand assistants ask at once.
	lightly = 96 << 20
	// beside is what the runtime holds that is no heap: stacks, and its own books.
	beside = 24 << 20
	// restingEach is how often the program looks whether it is at rest: no more than resting bytes were asked for since the
	// last look, and giving is what the heap has to hold beyond what is kept for a collection to be worth its while.
	restingEach = 2 * time.Second
	resting     = 1 << 20
	giving      = 4 << 20
)

// tuneCollector sets when the collector runs. GOGC and GOMEMLIMIT override it.
func tuneCollector() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(gcPercent)
	set := int64(lightly)
	debug.SetMemoryLimit(set)
	afterEachCollection(func() {
		if limit := limitFor(kept()); limit != set {
			set = limit
			debug.SetMemoryLimit(limit)
		}
	})
	go giveBack()
}

// giveBack gives to the machine what nothing needs any more whenever the program has come to rest: the collector runs so
// seldom that what the start or a rush left behind would stay for minutes.
func giveBack() {
	var r rest
	for range time.Tick(restingEach) {
		if r.wastes(heap()) {
			debug.FreeOSMemory()
		}
	}
}

// heapState is what the runtime tells of the heap, in bytes: all that was ever asked for, what is held, and what of that the last
// collection found in use.
type heapState struct{ asked, held, kept uint64 }

// rest remembers how much had been asked for at the last look.
type rest struct{ asked uint64 }

// wastes tells whether the program has asked for next to nothing since the last look and holds much that it need not.
func (r *rest) wastes(now heapState) bool {
	quiet := now.asked-r.asked <= resting
	r.asked = now.asked
	return quiet && now.held > now.kept+giving
}

// limitFor is how much memory the runtime may take while the program keeps so many bytes: what is light, or where more
// than that is needed, as much garbage as is kept. A fixed limit would let the collector run without end there.
func limitFor(kept uint64) int64 {
	return max(lightly, 2*int64(kept)+beside) //nolint:gosec // no machine has so much memory
}

// kept is how many bytes the last collection left.
func kept() uint64 { return told("/gc/heap/live:bytes") }

func heap() heapState {
	return heapState{asked: told("/gc/heap/allocs:bytes"), held: told("/memory/classes/heap/objects:bytes"), kept: kept()}
}

// told is a figure of the runtime, or 0 where it does not tell it.
func told(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// afterEachCollection calls a function after every run of the collector, one call at a time: each run ends an object
// that nobody holds, and the next one is made.
func afterEachCollection(do func()) {
	type run struct{ number *int }
	var next func(*run)
	next = func(*run) {
		do()
		runtime.SetFinalizer(&run{new(int)}, next)
	}
	next(nil)
}
