//go:build crashpoints

package failpoint

import (
	"os"
	"strings"
	"sync/atomic"
	"time"
)

const readInterval = 20 * time.Millisecond

var (
	offset   atomic.Int64 // added to the machine's clock, in nanoseconds
	lastRead atomic.Int64 // nanoseconds since start
	start    = time.Now()
)

// Clock replaces the clocks of the machine and the database.
var Clock = Now

// Now returns the machine's time plus the duration in the file that PRESSROOM_CRASH_CLOCK names.
func Now() time.Time {
	if path := os.Getenv("PRESSROOM_CRASH_CLOCK"); path != "" {
		readOffset(path)
	}
	return time.Now().Add(time.Duration(offset.Load()))
}

// readOffset reads the file, at most once per readInterval. It ignores errors, because the file may be only partly
// written.
func readOffset(path string) {
	now, last := int64(time.Since(start)), lastRead.Load()
	if last != 0 && now-last < int64(readInterval) || !lastRead.CompareAndSwap(last, now) {
		return
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the test chooses the file
	if err != nil {
		return
	}
	if d, err := time.ParseDuration(strings.TrimSpace(string(raw))); err == nil {
		offset.Store(int64(d))
	}
}
