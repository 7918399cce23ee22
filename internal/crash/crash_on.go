//go:build crashpoints

// Package crash marks the places at which tests end the process, to see that nothing is sent twice or lost.
//
// PRESSROOM_CRASH_AT="NAME" kills the process with SIGKILL at the first pass of the point NAME, "NAME#3" at
// its third. PRESSROOM_CRASH_TRACE=FILE appends the name of every point passed to a file.
package crash

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
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
	at, nth, _ := strings.Cut(os.Getenv("PRESSROOM_CRASH_AT"), "#")
	if nth == "" {
		nth = "1"
	}
	if at == name && nth == strconv.Itoa(passes[name]) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal may take a moment: nothing further happens here
	}
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
