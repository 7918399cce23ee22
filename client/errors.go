package client

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is an error response. Programs should check Code, or Status if they do not recognize the code. Title and Detail
// are for people.
type Error struct {
	Operation string
	Status    int
	Code      string // a Code constant, or a code from a later version; empty if the response was not a problem document
	Title     string
	Detail    string
	Context   Context

	RequestID      string        // identifies the request in the operator's logs
	RetryAfter     time.Duration // time to wait before another attempt; 0 if unknown
	IdempotencyKey string        // key of the call; repeating a write with this key does not perform it twice
	Attempts       int
}

// Context contains details of an error. It does not contain the values of arguments. Which members are set depends on
// the error code.
type Context struct {
	Argument string   `json:"argument"` // the invalid argument
	Item     *int64   `json:"item"`     // index of the invalid item, if the argument is a list
	Reason   string   `json:"reason"`   // why the argument is invalid, or why the call was rejected
	Scope    string   `json:"scope"`    // the rate limit or spending limit that was reached
	Limit    string   `json:"limit"`    // the plan limit that was reached
	Paused   string   `json:"paused"`   // the kind of action that is paused
	State    string   `json:"state"`    // the item's current state
	Problems []string `json:"problems"` // why the networks would reject the post
}

func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %d", e.Operation, e.Status)
	if e.Code != "" {
		text.WriteString(" " + e.Code)
	}
	argument := e.Context.Argument
	if e.Context.Item != nil {
		argument += fmt.Sprintf(" (item %d)", *e.Context.Item)
	}
	for _, more := range append([]string{argument, e.Context.Reason, e.Context.Scope, e.Context.Limit, e.Context.State},
		e.Context.Problems...) {
		if more != "" {
			text.WriteString(" " + more)
		}
	}
	if e.Detail != "" {
		text.WriteString(": " + e.Detail)
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&text, " (wait %s)", e.RetryAfter)
	}
	if e.RequestID != "" {
		text.WriteString(" [request " + e.RequestID + "]")
	}
	return text.String()
}

// UnansweredError means that the outcome of a call is unknown: the connection failed, a timeout expired or the response
// was incomplete. If you repeat the call with the same IdempotencyKey and arguments, a write still takes effect only
// once.
type UnansweredError struct {
	Operation      string
	IdempotencyKey string
	Attempts       int
	Unsent         bool  // whether no request was sent, so that nothing was done
	Err            error // the cause; for a canceled context, the context's error
}

func (e *UnansweredError) Error() string {
	attempts := "attempts"
	if e.Attempts == 1 {
		attempts = "attempt"
	}
	return fmt.Sprintf("%s: no response in %d %s: %v", e.Operation, e.Attempts, attempts, e.Err)
}

// Unwrap returns the cause.
func (e *UnansweredError) Unwrap() error { return e.Err }

// JobFailedError means that a job failed completely or partially. The job's result lists what succeeded.
type JobFailedError struct {
	JobID string
	State JobState // JobStateFailed or JobStatePartiallySucceeded
	Code  string   // why the job failed
	Text  string
}

func (e *JobFailedError) Error() string {
	return fmt.Sprintf("job %s %s: %s: %s", e.JobID, strings.ReplaceAll(string(e.State), "_", " "), e.Code, e.Text)
}

// asType is errors.AsType, which older versions of Go lack.
func asType[E error](err error) (E, bool) {
	var e E
	ok := errors.As(err, &e)
	return e, ok
}

// CodeOf returns the code of the [*Error] in err, or "".
func CodeOf(err error) string {
	if e, ok := asType[*Error](err); ok {
		return e.Code
	}
	return ""
}
