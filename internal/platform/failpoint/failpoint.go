//go:build !crashpoints

// Package failpoint marks points at which tests kill the process, to check that nothing is sent twice or lost. The
// points do nothing without the build tag crashpoints (see crash_on.go).
package failpoint

import "time"

// Point marks a point in the program by name.
func Point(string) {}

// Clock is nil, so the program uses the clock of the machine or the database.
var Clock func() time.Time
