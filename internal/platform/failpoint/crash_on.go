//go:build crashpoints

// Package failpoint marks points at which tests kill the process, to check that nothing is sent twice or lost.
//
// Environment variables control the points:
//
//   - PRESSROOM_CRASH_AT=NAME kills the process with SIGKILL when it first reaches the point NAME. NAME#3 kills the
//     process when it reaches the point for the third time.
//   - PRESSROOM_CRASH_HANG=NAME or NAME#3 stops the process with SIGSTOP instead, until it receives SIGCONT.
//   - PRESSROOM_CRASH_TRACE=FILE appends the name of each point that the process reaches to FILE.
//   - PRESSROOM_CRASH_CLOCK=FILE adds the duration in FILE to the program's clock.
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

// Point marks a point in the program by name. It kills or stops the process if the environment selects this point.
func Point(name string) {
	mu.Lock()
	defer mu.Unlock()
	passes[name]++
	trace(name)
	switch {
	case matches(os.Getenv("PRESSROOM_CRASH_AT"), name):
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // signals are delivered asynchronously
	case matches(os.Getenv("PRESSROOM_CRASH_HANG"), name):
		before := time.Now()
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		for time.Since(before) < maxSignalDelay {
			runtime.Gosched()
		}
	}
}

const maxSignalDelay = 100 * time.Millisecond

// matches reports whether pattern selects this visit of the point, such as the third visit for "NAME#3".
func matches(pattern, name string) bool {
	at, nth, _ := strings.Cut(pattern, "#")
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
