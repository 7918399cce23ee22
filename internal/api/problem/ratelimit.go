package problem

import (
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/core/pipeline"
)

// The names of the fields RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11), in the form that
// net/http writes. Field names are case-insensitive.
const (
	policyField = "Ratelimit-Policy"
	limitField  = "Ratelimit"
)

// SetRateLimits sets the fields RateLimit-Policy and RateLimit, with one member for each rate, in the order of rates.
// If there are no rates, it sets neither field. Each member of RateLimit-Policy contains the quota (q) and the number
// of seconds in which the quota is restored (w). Each member of RateLimit contains the number of remaining calls (r)
// and a number of seconds (t). If the rate rejected the call, t is the time until the next call is allowed, as in
// Retry-After. Otherwise, t is the time until the whole quota is restored. Seconds are rounded up.
func SetRateLimits(h http.Header, rates []pipeline.Rate) {
	if len(rates) == 0 {
		return
	}
	const capacity = 160 // bytes that three members need
	policy, limit := make([]byte, 0, capacity), make([]byte, 0, capacity)
	for i, r := range rates {
		reset := r.Reset
		if r.Limited {
			reset = r.RetryAfter
		}
		// A window is never 0.
		policy = appendMember(policy, i, r.Scope, ";q=", int64(r.Quota), ";w=", max(ceilSeconds(r.Window), 1))
		limit = appendMember(limit, i, r.Scope, ";r=", int64(r.Remaining), ";t=", ceilSeconds(reset))
	}
	h.Set(policyField, string(policy))
	h.Set(limitField, string(limit))
}

// appendMember appends a member to a structured field list (RFC 9651): the scope as a string, with two parameters.
// Scopes are words, so they do not need escaping.
func appendMember(dst []byte, i int, scope pipeline.Scope, firstParam string, firstValue int64, secondParam string,
	secondValue int64) []byte {
	if i > 0 {
		dst = append(dst, ", "...)
	}
	dst = append(dst, '"')
	dst = append(dst, scope...)
	dst = append(dst, '"')
	dst = strconv.AppendInt(append(dst, firstParam...), firstValue, 10)
	return strconv.AppendInt(append(dst, secondParam...), secondValue, 10)
}

// ceilSeconds returns d in seconds, rounded up so that clients do not retry too early.
func ceilSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
