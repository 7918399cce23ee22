//go:build crashpoints

// Package failpoint marks the places at which tests end the process, to see that nothing is sent twice or lost.
//
// PRESSROOM_CRASH_AT="NAME" kills the process with SIGKILL at the first pass of the point NAME, "NAME#3" at
// its third. PRESSROOM_CRASH_HANG="NAME#3" stops it there with SIGSTOP instead, until somebody lets it go on.
// PRESSROOM_CRASH_TRACE=FILE appends the name of every point passed to a file. PRESSROOM_CRASH_CLOCK=FILE has the
// program's clock run ahead of the machine's, or behind it, by the duration that stands in the file.
package failpoint

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

var (
	mu     sync.Mutex
	passes = map[string]int{}
)

// Point is one such place.
func Point(name string) {
	mu.Lock()
	defer mu.Unlock()
	passes[name]++
	trace(name)
	switch {
	case here(os.Getenv("PRESSROOM_CRASH_AT"), name):
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal may take a moment: nothing further happens here
	case here(os.Getenv("PRESSROOM_CRASH_HANG"), name):
		before := time.Now()
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		for time.Since(before) < stands { // as above
			runtime.Gosched()
		}
	}
}

// stands is longer than the signal takes.
const stands = 100 * time.Millisecond

// here tells whether this pass of a point is the one that is wanted.
func here(wanted, name string) bool {
	at, nth, _ := strings.Cut(wanted, "#")
	if nth == "" {
		nth = "1"
	}
	return at == name && nth == strconv.Itoa(passes[name])
}

func trace(name string) {
	path := os.Getenv("PRESSROOM_CRASH_TRACE")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.WriteString(name + "\n")
}
