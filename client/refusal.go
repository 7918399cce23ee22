package client

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// refusal reads a problem document, or says what came in its place: proxies answer in words of their own.
func refusal(resp *http.Response, raw []byte) *Error {
	e := &Error{
		Status: resp.StatusCode, RequestID: resp.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter(resp.Header, time.Now()),
	}
	var problem struct {
		Code    string          `json:"code"`
		Title   string          `json:"title"`
		Detail  string          `json:"detail"`
		Context json.RawMessage `json:"context"`
	}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if media == "application/problem+json" && json.Unmarshal(raw, &problem) == nil && problem.Code != "" {
		e.Code, e.Title, e.Detail = problem.Code, problem.Title, problem.Detail
		_ = json.Unmarshal(problem.Context, &e.Context) // what later versions write otherwise is passed over
		return e
	}
	e.Title = http.StatusText(resp.StatusCode)
	e.Detail = fmt.Sprintf("not an answer of pressroom's (%s), perhaps a proxy's in front of it", e.Title)
	if resp.StatusCode/100 == 3 {
		e.Detail = "a redirect, which is not followed: a key goes to no other address than the given one"
	}
	return e
}

// retryAfter is how long an answer asks to wait: seconds, or a date, which is counted from the answer's own clock where
// it tells that, as ours may be wrong.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs
	}
	return max(0, until.Sub(now))
}
