//go:build !crashpoints

// Package failpoint marks the places at which tests end the process, to see that nothing is sent twice or lost.
// In a program as users build it the marks do nothing; with the build tag crashpoints they kill (see
// crash_on.go).
package failpoint

import "time"

// Point is one such place.
func Point(string) {}

// Clock is none: the program goes by the machine's, or its database's.
var Clock func() time.Time
