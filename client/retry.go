package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"time"
)

// retry configures how calls are retried.
type retry struct {
	attempts       int
	firstPause     time.Duration // pause before the first retry; the pause doubles with each further retry
	maxPause       time.Duration // maximum pause
	attemptTimeout time.Duration // timeout of one attempt
	stallTimeout   time.Duration // time without progress after which an upload's connection counts as lost
	sleep          func(ctx context.Context, d time.Duration) error
}

func newRetry() retry {
	return retry{
		attempts: 5, firstPause: 500 * time.Millisecond, maxPause: time.Minute, attemptTimeout: time.Minute,
		stallTimeout: 2 * time.Minute,
		sleep:        sleep,
	}
}

// permanentError is an error that would occur again in a retry.
type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// run calls try until it succeeds, the error is permanent, no attempts are left, or the context ends. key is the
// idempotency key that all attempts send.
func (r retry) run(ctx context.Context, operation, key string, try func(ctx context.Context) error) error {
	var reached atomic.Bool
	// The transport retries on its own after losing a reused connection, so the last error does not show whether a
	// request was sent.
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		reached.Store(true)
	}})
	for attempt := 1; ; attempt++ {
		err := r.withTimeout(traced, try)
		if err == nil {
			return nil
		}
		if !isUnsent(err) {
			reached.Store(true)
		}
		wait, again := r.pause(attempt, err)
		if !again || attempt >= r.attempts || ctx.Err() != nil || endsBefore(ctx, wait) || r.sleep(ctx, wait) != nil {
			return describe(err, ctx,
				&UnansweredError{Operation: operation, IdempotencyKey: key, Attempts: attempt, Unsent: !reached.Load()})
		}
	}
}

// withTimeout calls try with the timeout of one attempt.
func (r retry) withTimeout(ctx context.Context, try func(ctx context.Context) error) error {
	if r.attemptTimeout <= 0 {
		return try(ctx)
	}
	attemptCtx, cancel := context.WithTimeoutCause(ctx, r.attemptTimeout, fmt.Errorf("no response within %s", r.attemptTimeout))
	defer cancel()
	return causeOf(ctx, attemptCtx, try(attemptCtx))
}

// causeOf returns the reason why attemptCtx ended, if err is a consequence of that. Otherwise, it returns err.
func causeOf(ctx, attemptCtx context.Context, err error) error {
	_, isResponse := asType[*Error](err)
	if err == nil || isResponse || ctx.Err() != nil || attemptCtx.Err() == nil {
		return err
	}
	return context.Cause(attemptCtx)
}

// describe adds details of the call to an error. For an error response, the result is or wraps the *Error, even if the
// context ended during a pause. Otherwise, the result is unanswered, with err as its cause.
func describe(err error, ctx context.Context, unanswered *UnansweredError) error { //nolint:revive // the error is the subject
	if e, ok := asType[*Error](err); ok {
		e.Operation, e.IdempotencyKey, e.Attempts = unanswered.Operation, unanswered.IdempotencyKey, unanswered.Attempts
		if ctx.Err() != nil {
			return fmt.Errorf("%w (given up: %w)", e, context.Cause(ctx))
		}
		return e
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	unanswered.Err = err
	return unanswered
}

// isUnsent reports whether err means that a connection could not be established.
func isUnsent(err error) bool {
	if dial, ok := asType[*net.OpError](err); ok && dial.Op == "dial" {
		return true
	}
	_, ok := asType[*tls.CertificateVerificationError](err)
	return ok
}

// pause returns the pause before the next attempt, and reports whether a retry may succeed.
func (r retry) pause(attempt int, err error) (time.Duration, bool) {
	e, ok := asType[*Error](err)
	if !ok {
		return r.backoff(attempt), !isPermanent(err)
	}
	if !isTemporary(e) || e.RetryAfter > r.maxPause {
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter + jitter(r.firstPause), true
	}
	return r.backoff(attempt), true
}

// backoff returns a pause that doubles with each attempt, with jitter.
func (r retry) backoff(attempt int) time.Duration {
	return jitter(min(r.firstPause<<min(attempt-1, 16), r.maxPause))
}

// jitter returns a random duration from half of a pause to the whole pause, so that clients do not retry at the same
// time.
func jitter(pause time.Duration) time.Duration {
	return pause/2 + rand.N(pause/2+1) //nolint:gosec // need not be unpredictable
}

// isTemporary reports whether the same call may succeed soon. It returns false for provider_unavailable: a data
// provider is unreachable or not configured, which retries rarely change, and nothing was done or charged. It also
// returns false if credits are used up or a plan limit is reached, because waiting does not help.
func isTemporary(e *Error) bool {
	switch e.Code {
	case CodeIdempotencyKeyInProgress, CodeRateLimited, CodeDailyCallLimitReached, CodeDailyCreditLimitReached,
		CodeInternalError:
		return true
	case "": // the response is from a proxy
		return slices.Contains([]int{429, 500, 502, 503, 504}, e.Status)
	}
	return e.Status == 503 || e.Status == 429 && e.RetryAfter > 0
}

// isPermanent reports whether a retry would return the same error.
func isPermanent(err error) bool {
	if _, ok := asType[*permanentError](err); ok {
		return true
	}
	if _, ok := asType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := asType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	if _, ok := asType[tls.RecordHeaderError](err); ok { // the server does not speak TLS
		return true
	}
	lookup, ok := asType[*net.DNSError](err)
	return ok && lookup.IsNotFound
}

// endsBefore reports whether ctx ends before wait is over.
func endsBefore(ctx context.Context, wait time.Duration) bool {
	end, ok := ctx.Deadline()
	return ok && time.Until(end) <= wait
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
