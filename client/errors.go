package client

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is an error response. Programs should check Code, or Status if they do not know the code. Title and Detail are
// for people.
type Error struct {
	Operation string
	Status    int
	Code      string // one of the constants or a code of a later version; empty if the response was not a problem document
	Title     string
	Detail    string
	Context   Context

	RequestID      string        // for the operator
	RetryAfter     time.Duration // 0 if the response has none
	IdempotencyKey string        // key of the call; repeating a write with it has no second effect
	Attempts       int
}

// Context contains details of an error, but no values of arguments. Which members are set depends on the code.
type Context struct {
	Argument string   `json:"argument"` // the invalid argument
	Item     *int64   `json:"item"`     // for a list, index of the invalid item
	Reason   string   `json:"reason"`   // why the argument is invalid, or the call was rejected
	Scope    string   `json:"scope"`    // the limit that was reached
	Limit    string   `json:"limit"`    // the plan limit
	Paused   string   `json:"paused"`   // the kind of action that is paused
	State    string   `json:"state"`    // the item's current state
	Problems []string `json:"problems"` // what the networks would reject
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

// UnansweredError is a call whose outcome is unknown: the connection failed, a timeout expired or the response was
// cut off. A write takes effect only once, even if the call is repeated with the same IdempotencyKey and arguments.
type UnansweredError struct {
	Operation      string
	IdempotencyKey string
	Attempts       int
	Unsent         bool  // whether no attempt reached the service, so that nothing was done
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

// JobFailedError is a job that failed completely or partially. The job's result lists what succeeded.
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
