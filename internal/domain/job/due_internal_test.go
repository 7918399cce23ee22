package job

import (
	"testing"
	"time"
)

// TestDueWithClockSkew checks that a wake is due by two clocks. The queue's library inserts it with the machine's clock
// and claims it with the database's clock.
func TestDueWithClockSkew(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 4, 0, 0, 0, time.UTC)
	for _, ahead := range []time.Duration{0, time.Hour, -time.Hour} {
		machine := now.Add(ahead)
		if due := dueNow(now, machine); due.After(now) || due.After(machine) || due.Before(now.Add(-time.Hour)) {
			t.Errorf("a machine %v ahead: due at %v", ahead, due)
		}
	}
}
