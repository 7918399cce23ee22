package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"time"
)

// retry is how calls are repeated.
type retry struct {
	attempts int
	first    time.Duration // the pause before the first repeat; each further one is twice as long
	longest  time.Duration // that a pause may be
	attempt  time.Duration // how long one attempt may take
	still    time.Duration // of an upload, without a byte sent or an answer: then the connection counts as lost
	sleep    func(ctx context.Context, d time.Duration) error
}

func newRetry() retry {
	return retry{
		attempts: 5, first: 500 * time.Millisecond, longest: time.Minute, attempt: time.Minute, still: 2 * time.Minute,
		sleep: sleep,
	}
}

// final is an error that a repeat would not mend.
type final struct{ error }

func (f *final) Unwrap() error { return f.error }

// run tries until it succeeds, is refused for good or is given up. The same key goes with every attempt, so that what
// was done already is not done again.
func (r retry) run(ctx context.Context, operation, key string, try func(ctx context.Context) error) error {
	var reached atomic.Bool
	// The transport repeats by itself what a kept connection lost, so that the last error alone does not tell what was
	// sent.
	watched := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		reached.Store(true)
	}})
	for attempt := 1; ; attempt++ {
		err := r.bounded(watched, try)
		if err == nil {
			return nil
		}
		if !unsent(err) {
			reached.Store(true)
		}
		wait, again := r.pause(attempt, err)
		if !again || attempt >= r.attempts || ctx.Err() != nil || tooLate(ctx, wait) {
			return told(err, ctx,
				&UnansweredError{Operation: operation, IdempotencyKey: key, Attempts: attempt, Unsent: !reached.Load()})
		}
		if r.sleep(ctx, wait) != nil {
			return told(err, ctx,
				&UnansweredError{Operation: operation, IdempotencyKey: key, Attempts: attempt, Unsent: !reached.Load()})
		}
	}
}

// bounded ends one attempt after its time.
func (r retry) bounded(ctx context.Context, try func(ctx context.Context) error) error {
	if r.attempt <= 0 {
		return try(ctx)
	}
	bound, cancel := context.WithTimeoutCause(ctx, r.attempt, fmt.Errorf("no answer within %s", r.attempt))
	defer cancel()
	return ofOurs(ctx, bound, try(bound))
}

// ofOurs is the error of something that was done within a bound of our own: where that ended it, the reason of that.
func ofOurs(ctx, bound context.Context, err error) error {
	_, refused := errors.AsType[*Error](err)
	if err == nil || refused || ctx.Err() != nil || bound.Err() == nil {
		return err
	}
	return context.Cause(bound)
}

// told is an error with what the caller has to know of the call. A refusal stays one, also when the wait for a repeat
// was cut short.
func told(err error, ctx context.Context, call *UnansweredError) error { //nolint:revive // the error is what it is about
	if refused, ok := errors.AsType[*Error](err); ok {
		refused.Operation, refused.IdempotencyKey, refused.Attempts = call.Operation, call.IdempotencyKey, call.Attempts
		if ctx.Err() != nil {
			return fmt.Errorf("%w (given up: %w)", refused, context.Cause(ctx))
		}
		return refused
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	call.Err = err
	return call
}

// unsent tells of errors of a connection that never came to stand; an earlier one may have stood in the same attempt.
func unsent(err error) bool {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return true
	}
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}

// pause tells whether a repeat may mend an error, and after how long.
func (r retry) pause(attempt int, err error) (time.Duration, bool) {
	refused, ok := errors.AsType[*Error](err)
	if !ok {
		return r.backoff(attempt), !hopeless(err)
	}
	if !passing(refused) || refused.RetryAfter > r.longest {
		return 0, false
	}
	if refused.RetryAfter > 0 {
		return refused.RetryAfter + jittered(r.first), true
	}
	return r.backoff(attempt), true
}

// backoff is a pause from half to the whole of what doubles with each attempt.
func (r retry) backoff(attempt int) time.Duration {
	return jittered(min(r.first<<min(attempt-1, 16), r.longest))
}

// jittered is from half to the whole of a pause, so that callers who began together do not go on together.
func jittered(whole time.Duration) time.Duration {
	return whole/2 + rand.N(whole/2+1) //nolint:gosec // nobody gains by knowing it
}

// passing tells whether a refusal may be gone in a while. provider_unavailable is for the caller to look at: a post
// may have gone out. Credits and the plan's limits do not come back by waiting.
func passing(e *Error) bool {
	switch e.Code {
	case CodeIdempotencyKeyInProgress, CodeRateLimited, CodeDailyCallLimitReached, CodeDailyCreditLimitReached,
		CodeInternalError:
		return true
	case "": // a proxy's words
		return slices.Contains([]int{429, 500, 502, 503, 504}, e.Status)
	}
	return e.Status == 503 || e.Status == 429 && e.RetryAfter > 0
}

// hopeless tells of errors that come back at once.
func hopeless(err error) bool {
	if _, ok := errors.AsType[*final](err); ok {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok { // no TLS is spoken there
		return true
	}
	lookup, ok := errors.AsType[*net.DNSError](err)
	return ok && lookup.IsNotFound
}

// tooLate tells whether a context ends before a pause does.
func tooLate(ctx context.Context, wait time.Duration) bool {
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
