// Package must ends a test at the first unexpected error. Only tests import it.
package must

import "time"

// T is a *testing.T, a *testing.B, a testing.TB or a *rapid.T.
type T interface {
	Helper()
	Fatal(args ...any)
}

// NoError fails the test immediately if err is not nil.
func NoError(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns a function that returns v, or fails the test immediately if err is not nil. It wraps calls that return a
// value and an error:
//
//	file := must.Get(os.Open(path))(t)
func Get[V any](v V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		NoError(t, err)
		return v
	}
}

// Eventually fails the test unless done returns true within a duration. It calls done every 20 milliseconds.
func Eventually(t T, timeout time.Duration, event string, condition func() bool) {
	t.Helper()
	for start := time.Now(); !condition(); <-time.After(20 * time.Millisecond) {
		if time.Since(start) > timeout {
			t.Fatal("waited ", timeout, " for ", event)
		}
	}
}
