package problem

import (
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/core/pipeline"
)

// RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11), as net/http writes them. Field names are
// case-insensitive.
const (
	policyField = "Ratelimit-Policy"
	limitField  = "Ratelimit"
)

// SetRateLimits sets both fields, with one member for each rate in order. Without rates, it sets neither. A member of
// the policy has the quota (q) and the window in seconds (w) in which the quota is restored. A member of the limit has
// the remaining calls (r) and the seconds (t) until the whole quota is restored or, if the call was rejected, until the
// next call is allowed, as in Retry-After. Seconds are rounded up.
func SetRateLimits(h http.Header, rates []pipeline.Rate) {
	if len(rates) == 0 {
		return
	}
	const threeMembers = 160 // capacity for three members, in bytes
	policy, limit := make([]byte, 0, threeMembers), make([]byte, 0, threeMembers)
	for i, r := range rates {
		reset := r.Reset
		if r.Limited {
			reset = r.RetryAfter
		}
		// A window is never 0.
		policy = appendMember(policy, i, r.Scope, ";q=", int64(r.Quota), ";w=", max(seconds(r.Window), 1))
		limit = appendMember(limit, i, r.Scope, ";r=", int64(r.Remaining), ";t=", seconds(reset))
	}
	h.Set(policyField, string(policy))
	h.Set(limitField, string(limit))
}

// appendMember appends to a structured field list (RFC 9651) a member that is the scope as a string with two
// parameters. Scopes are words, so they need no escaping.
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

// seconds returns d in seconds, rounded up so that clients do not retry too early.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
