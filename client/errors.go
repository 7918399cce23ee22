package client

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is a refusal. Programs act on Code, and on Status where they do not know the code. The other texts are for
// people.
type Error struct {
	Operation string
	Status    int
	Code      string // one of the constants, or a later one; empty where the answer was no problem document
	Title     string
	Detail    string
	Context   Context

	RequestID      string        // to tell the operator
	RetryAfter     time.Duration // how long to wait before a repeat, 0 where nothing was said
	IdempotencyKey string        // that the call carried; a repeat with it does nothing twice
	Attempts       int
}

// Context holds identifiers of a refusal, never a value that was sent. Which there are depends on the code.
type Context struct {
	Argument string   `json:"argument"` // the argument that is to blame
	Item     *int64   `json:"item"`     // which of its items, from 0, where it is a list
	Reason   string   `json:"reason"`   // what is wrong with it
	Scope    string   `json:"scope"`    // what was used up, of a limit
	Limit    string   `json:"limit"`    // the plan's limit
	Paused   string   `json:"paused"`   // the kind of action that is paused
	State    string   `json:"state"`    // the item's, which does not allow this
	Problems []string `json:"problems"` // what the networks would not take
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

// UnansweredError is a call of which nobody knows whether it was done: the connection failed, the time was over, or
// what came was cut off. Repeated with the same IdempotencyKey and the same arguments, a write is done once.
type UnansweredError struct {
	Operation      string
	IdempotencyKey string
	Attempts       int
	Unsent         bool  // whether no attempt came as far as the service: then nothing was done
	Err            error // the reason: of a context that ended, its error
}

func (e *UnansweredError) Error() string {
	return fmt.Sprintf("%s got no answer in %d attempts: %v", e.Operation, e.Attempts, e.Err)
}

// Unwrap is the reason.
func (e *UnansweredError) Unwrap() error { return e.Err }

// JobFailedError is a job that ended and did not, or not wholly, succeed. Its result tells what did.
type JobFailedError struct {
	JobID string
	State JobState // JobStateFailed or JobStatePartiallySucceeded
	Code  string   // why
	Text  string
}

func (e *JobFailedError) Error() string {
	return fmt.Sprintf("job %s %s: %s: %s", e.JobID, strings.ReplaceAll(string(e.State), "_", " "), e.Code, e.Text)
}

// CodeOf is the code of the refusal within an error, empty where there is none.
func CodeOf(err error) string {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.Code
	}
	return ""
}
