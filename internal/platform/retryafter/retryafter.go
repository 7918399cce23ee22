// Package retryafter reads the Retry-After header field (RFC 9110, section 10.2.3).
package retryafter

import (
	"net/http"
	"strconv"
	"time"
)

// Parse returns the delay in a Retry-After field, which contains a number of seconds or a date. It returns 0 if the
// field is empty or invalid.
func Parse(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return max(at.Sub(now), 0)
}
