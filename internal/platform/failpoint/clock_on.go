//go:build crashpoints

package failpoint

import (
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// lookEvery is how often the file of the clock is looked at.
const lookEvery = 20 * time.Millisecond

var (
	ahead  atomic.Int64 // of the machine's clock
	looked atomic.Int64 // when, in nanoseconds since the start
	began  = time.Now()
)

// Clock is what the program goes by, in place of the machine's and its database's.
var Clock = Now

// Now is the machine's clock with what the file adds.
func Now() time.Time {
	if path := os.Getenv("PRESSROOM_CRASH_CLOCK"); path != "" {
		look(path)
	}
	return time.Now().Add(time.Duration(ahead.Load()))
}

// look reads the file where nobody has for a while. What cannot be read changes nothing: it is being written.
func look(path string) {
	now, last := int64(time.Since(began)), looked.Load()
	if last != 0 && now-last < int64(lookEvery) || !looked.CompareAndSwap(last, now) {
		return
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the test says which file
	if err != nil {
		return
	}
	if d, err := time.ParseDuration(strings.TrimSpace(string(raw))); err == nil {
		ahead.Store(int64(d))
	}
}
