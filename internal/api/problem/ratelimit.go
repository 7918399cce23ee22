package problem

import (
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/core/pipeline"
)

// RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11). The fields as net/http writes them;
// clients compare names without regard to case.
const (
	policyField = "Ratelimit-Policy"
	limitField  = "Ratelimit"
)

// SetRateLimits sets both fields to lists with one member for each rate, in their order; no rates, no fields. The
// policy says how many calls may come at once (q) and within how many seconds as many are there again (w); the limit,
// how many may come now (r) and for how many seconds no more than those (t): until the whole quota is there again, or,
// where a call was refused, until the next one may come, so that Retry-After says the same. Seconds are rounded up.
func SetRateLimits(h http.Header, rates []pipeline.Rate) {
	if len(rates) == 0 {
		return
	}
	const usual = 160 // bytes of three members
	policy, limit := make([]byte, 0, usual), make([]byte, 0, usual)
	for i, r := range rates {
		until := r.Reset
		if r.Limited {
			until = r.RetryAfter
		}
		// the window is never 0
		policy = member(policy, i, r.Scope, ";q=", int64(r.Quota), ";w=", max(seconds(r.Window), 1))
		limit = member(limit, i, r.Scope, ";r=", int64(r.Remaining), ";t=", seconds(until))
	}
	h.Set(policyField, string(policy))
	h.Set(limitField, string(limit))
}

// member adds a member to a list of structured fields (RFC 9651): the scope as its string, and two parameters.
// Scopes are words, so nothing in them needs escaping.
func member(to []byte, i int, scope pipeline.Scope, first string, a int64, second string, b int64) []byte {
	if i > 0 {
		to = append(to, ", "...)
	}
	to = append(to, '"')
	to = append(to, scope...)
	to = append(to, '"')
	to = strconv.AppendInt(append(to, first...), a, 10)
	return strconv.AppendInt(append(to, second...), b, 10)
}

// seconds rounds up: who waits as long as it says never comes too early.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
