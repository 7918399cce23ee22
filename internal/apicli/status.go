package apicli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"pressroom/client"
)

// Exit statuses, by what a script can do about it.
const (
	StatusDone        = 0
	StatusFailed      = 1   // something on this machine
	StatusUsage       = 2   // the command line is wrong; nothing was sent
	StatusRefused     = 3   // the key is wrong or may not (401, 403)
	StatusMissing     = 4   // there is no such item (404)
	StatusInvalid     = 5   // the arguments, or the item's state, do not allow it (409, 422 and the like)
	StatusLimited     = 6   // a limit or the credits are used up (402, 429): later
	StatusJob         = 7   // the job ended and did not wholly succeed
	StatusUnavailable = 8   // no answer, or the service failed (5xx): a write may have been done
	StatusUnended     = 9   // it was accepted as a job, which was not seen to end: it goes on by itself
	StatusInterrupted = 130 // by a signal
)

func status(ctx context.Context, err error) int {
	if err == nil {
		return StatusDone
	}
	if isUsage(err) {
		return StatusUsage
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return StatusInterrupted
	}
	if _, ok := errors.AsType[*unended](err); ok {
		return StatusUnended
	}
	if _, ok := errors.AsType[*client.JobFailedError](err); ok {
		return StatusJob
	}
	if _, ok := errors.AsType[*client.UnansweredError](err); ok || errors.Is(err, context.DeadlineExceeded) {
		return StatusUnavailable
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return ofRefusal(refused.Status)
	}
	return StatusFailed
}

func ofRefusal(code int) int {
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return StatusRefused
	case http.StatusNotFound:
		return StatusMissing
	case http.StatusPaymentRequired, http.StatusTooManyRequests:
		return StatusLimited
	}
	switch code / 100 {
	case 3: // the address leads elsewhere, and nothing went there
		return StatusFailed
	case 4:
		return StatusInvalid
	}
	return StatusUnavailable
}

// tell says what went wrong, for people.
func (t Terminal) tell(err error) {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		fmt.Fprintln(t.Err, "pressroom: "+err.Error())
		t.again(err)
		return
	}
	fmt.Fprintf(t.Err, "pressroom: %s was refused: %s\n", refused.Operation, refused.Detail)
	wait, item := "", ""
	if refused.Context.Item != nil {
		item = fmt.Sprint(*refused.Context.Item)
	}
	if refused.RetryAfter > 0 {
		wait = refused.RetryAfter.String()
	}
	for _, line := range [][2]string{
		{"status", fmt.Sprint(refused.Status)},
		{"code", refused.Code},
		{"argument", refused.Context.Argument},
		{"item", item},
		{"reason", refused.Context.Reason},
		{"scope", refused.Context.Scope},
		{"limit", refused.Context.Limit},
		{"paused", refused.Context.Paused},
		{"state", refused.Context.State},
		{"problems", strings.Join(refused.Context.Problems, ", ")},
		{"wait", wait},
		{"request", refused.RequestID},
	} {
		if line[1] != "" {
			fmt.Fprintf(t.Err, "  %-9s %s\n", line[0], line[1])
		}
	}
	t.again(err)
}

// again tells how to repeat what may have been done.
func (t Terminal) again(err error) {
	if u, ok := errors.AsType[*unended](err); ok {
		fmt.Fprintf(t.Err, "The job %s was accepted and goes on by itself. Wait on with: pressroom call get_job %s --wait\n", u.job, u.job)
		if u.key != "" {
			fmt.Fprintf(t.Err, "The same command with --idempotency-key %s finds it too and does nothing twice.\n", u.key)
		}
		return
	}
	if lost, ok := errors.AsType[*client.UnansweredError](err); ok && lost.IdempotencyKey != "" {
		if lost.Unsent {
			fmt.Fprintln(t.Err, "Nothing came as far as the service: nothing was done.")
			return
		}
		fmt.Fprintf(t.Err, "It may have been done. The same command with --idempotency-key %s does nothing twice.\n", lost.IdempotencyKey)
	}
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.IdempotencyKey != "" && ofRefusal(refused.Status) == StatusUnavailable {
		if refused.Code == client.CodeProviderUnavailable { // of a report nothing was done, and its key is free again
			if strings.HasSuffix(refused.Operation, "_post") {
				fmt.Fprintln(t.Err, "The post may have gone out all the same: look at it before anything is repeated.")
			}
			return
		}
		fmt.Fprintf(t.Err, "Part of it may have been done. The same command with --idempotency-key %s does nothing twice.\n", refused.IdempotencyKey)
	}
}
