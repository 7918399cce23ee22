package client

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// responseError returns the error in a response. The code is empty if the response is not a problem document: for
// example, if it is an error page from a proxy.
func responseError(resp *http.Response, raw []byte) *Error {
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
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if mediaType == "application/problem+json" && json.Unmarshal(raw, &problem) == nil && problem.Code != "" {
		e.Code, e.Title, e.Detail = problem.Code, problem.Title, problem.Detail
		_ = json.Unmarshal(problem.Context, &e.Context) // ignores members whose type has changed in a later version
		return e
	}
	e.Title = http.StatusText(resp.StatusCode)
	e.Detail = fmt.Sprintf("not a response from pressroom (%s); it may be from a proxy", e.Title)
	if resp.StatusCode/100 == 3 {
		e.Detail = "the response is a redirect, which the client does not follow: it sends the key only to the given address"
	}
	return e
}

// retryAfter returns the delay that a response requests with Retry-After, or 0 if there is none. If Retry-After is a
// date, the delay starts at the response's Date header, if there is one, because the local clock may be wrong.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if serverDate, err := http.ParseTime(h.Get("Date")); err == nil {
		now = serverDate
	}
	return max(0, until.Sub(now))
}
