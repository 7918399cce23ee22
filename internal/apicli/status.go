package apicli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"pressroom.example/pressroom/client"
	"pressroom.example/pressroom/internal/apicli/profile"
)

// Exit statuses.
const (
	StatusDone        = 0
	StatusFailed      = 1   // local error
	StatusUsage       = 2   // wrong command line; nothing was sent
	StatusRejected    = 3   // the key is wrong or not allowed to do this (401, 403)
	StatusNotFound    = 4   // 404
	StatusInvalid     = 5   // rejected because of the arguments or the item's state (409, 422 and the like)
	StatusLimited     = 6   // a limit or the credits are used up (402, 429)
	StatusJob         = 7   // the job failed completely or in part
	StatusUnavailable = 8   // no response, or the service failed (5xx); a write may have taken effect
	StatusUnfinished  = 9   // accepted, but the job has not finished
	StatusInterrupted = 130 // ended by a signal
)

func status(ctx context.Context, err error) int {
	if err == nil {
		return StatusDone
	}
	if isUsage(err) {
		return StatusUsage
	}
	if errors.Is(err, profile.ErrSignedOut) {
		return StatusRejected
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return StatusInterrupted
	}
	if _, ok := errors.AsType[*unfinishedError](err); ok {
		return StatusUnfinished
	}
	if _, ok := errors.AsType[*client.JobFailedError](err); ok {
		return StatusJob
	}
	if _, ok := errors.AsType[*client.UnansweredError](err); ok || errors.Is(err, context.DeadlineExceeded) {
		return StatusUnavailable
	}
	if apiErr, ok := errors.AsType[*client.Error](err); ok {
		return exitStatus(apiErr.Status)
	}
	return StatusFailed
}

func exitStatus(code int) int {
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return StatusRejected
	case http.StatusNotFound:
		return StatusNotFound
	case http.StatusPaymentRequired, http.StatusTooManyRequests:
		return StatusLimited
	}
	switch code / 100 {
	case 3: // redirects are not followed
		return StatusFailed
	case 4:
		return StatusInvalid
	}
	return StatusUnavailable
}

// invalidKey replaces the detail of the problem document, because that detail mentions a request header.
const invalidKey = "The API key is missing or invalid. Check " + keyVariable + ", or the file in --key-file or " + fileVariable +
	", or sign in again with pressroom login."

// printError prints an error for people.
func (t Terminal) printError(err error) {
	apiErr, ok := errors.AsType[*client.Error](err)
	if !ok {
		fmt.Fprintln(t.Err, ErrorLine(t.ErrColor, err.Error()))
		t.printRepeatHint(err)
		return
	}
	detail := apiErr.Detail
	if apiErr.Code == client.CodeUnauthorized {
		detail = invalidKey
	}
	fmt.Fprintln(t.Err, ErrorLine(t.ErrColor, apiErr.Operation+" failed: "+detail))
	wait, item := "", ""
	if apiErr.Context.Item != nil {
		item = fmt.Sprint(*apiErr.Context.Item)
	}
	if apiErr.RetryAfter > 0 {
		wait = apiErr.RetryAfter.String()
	}
	for _, line := range [][2]string{
		{"status", fmt.Sprint(apiErr.Status)},
		{"code", apiErr.Code},
		{"argument", apiErr.Context.Argument},
		{"item", item},
		{"reason", apiErr.Context.Reason},
		{"scope", apiErr.Context.Scope},
		{"limit", apiErr.Context.Limit},
		{"paused", apiErr.Context.Paused},
		{"state", apiErr.Context.State},
		{"problems", strings.Join(apiErr.Context.Problems, ", ")},
		{"wait", wait},
		{"request", apiErr.RequestID},
	} {
		if line[1] != "" {
			fmt.Fprintf(t.Err, "  %s %s\n", paint(t.ErrColor, dim, fmt.Sprintf("%-9s", line[0])), line[1])
		}
	}
	t.printRepeatHint(err)
}

// printRepeatHint prints how to safely repeat a write that may have taken effect, or how to continue with its job.
func (t Terminal) printRepeatHint(err error) {
	if unfinished, ok := errors.AsType[*unfinishedError](err); ok {
		fmt.Fprintf(t.Err,
			"The job %s was accepted and continues. To wait for it, run: pressroom call get_job %s --wait\n", unfinished.job,
			unfinished.job)
		if unfinished.key != "" {
			fmt.Fprintf(t.Err, "Repeating the command with --idempotency-key %s is also safe.\n", unfinished.key)
		}
		return
	}
	if unanswered, ok := errors.AsType[*client.UnansweredError](err); ok && unanswered.Unsent {
		fmt.Fprintln(t.Err, "The service could not be reached, so nothing was done. "+
			"Check that it is running at the URL in --url or "+urlVariable+".")
		return
	} else if ok && unanswered.IdempotencyKey != "" {
		fmt.Fprintf(t.Err, "The write may have taken effect. Repeating the command with --idempotency-key %s is safe.\n",
			unanswered.IdempotencyKey)
	}
	if apiErr, ok := errors.AsType[*client.Error](err); ok && apiErr.IdempotencyKey != "" &&
		exitStatus(apiErr.Status) == StatusUnavailable {
		if apiErr.Code == client.CodeProviderUnavailable { // nothing was done
			return
		}
		fmt.Fprintf(t.Err,
			"Part of the write may have taken effect. Repeating the command with --idempotency-key %s is safe.\n",
			apiErr.IdempotencyKey)
	}
}
