// Package pipeline runs calls of operations. For each request from the API or the app, it runs the contract's checks in
// order and then the operation, and returns the answer or an error.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/platform/loadshed"
	"pressroom/internal/platform/tracing"
)

// Request is a call of an operation.
type Request struct {
	Operation  *operation.Operation
	Credential string // the bearer token; may be empty
	// Person is the person who is signed in to the app, if the call comes from there. The limits of keys and the daily
	// free calls do not apply to it.
	Person *access.Actor
	// Arguments parses the arguments. It is called once the caller is known to be allowed to call.
	Arguments  func() (operation.Arguments, error)
	Key        Key
	RequestID  string
	OnProgress func(operation.Progress) // see operation.Call; may be nil
}

// Key is the Idempotency-Key of a request.
type Key struct {
	Given bool
	Twice bool // in more than one place
	Text  string
}

// Outcome is the outcome of a call. If the call failed, only Call and Rates are set.
type Outcome struct {
	operation.Result
	Call     operation.Call
	At       time.Time // of the answer
	Replayed bool      // this is the result of an earlier call with the same key
	Rates    []Rate    // the rate limits that counted the call
}

// Pipeline runs calls.
type Pipeline struct {
	Ports
	now func() time.Time
	run handler
}

// New returns a pipeline.
func New(ports Ports, now func() time.Time) *Pipeline {
	if ports.Room == nil {
		ports.Room = loadshed.New(loadshed.DefaultLimit())
	}
	if ports.Unavailable == nil {
		ports.Unavailable = func(error) bool { return false }
	}
	if ports.Healthy == nil {
		ports.Healthy = func() bool { return false }
	}
	p := &Pipeline{Ports: ports, now: now}
	p.run = func(ctx context.Context, f *callState) error { return p.work(ctx, f) }
	for _, step := range slices.Backward(steps) {
		next := p.run
		p.run = func(ctx context.Context, f *callState) error { return step.run(p, ctx, f, next) }
	}
	return p
}

const callTimeout = 30 * time.Second

// Call runs a request through every step.
func (p *Pipeline) Call(ctx context.Context, r Request) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	ctx, span := tracing.Start(ctx, r.Operation.Tool)
	f := &callState{
		request: r,
		outcome: Outcome{
			Call: operation.Call{
				Operation: r.Operation.Tool, RequestID: r.RequestID, OnProgress: r.OnProgress,
				Now: p.now().UTC().Truncate(time.Microsecond),
			},
		},
	}
	err := p.recoverPanic(ctx, f)
	f.annotate(span)
	span.End(err)
	if err != nil {
		return Outcome{Call: f.outcome.Call, Rates: f.outcome.Rates}, p.classify(ctx, err)
	}
	f.outcome.At = p.now().UTC().Truncate(time.Microsecond)
	return f.outcome, nil
}

// annotate adds the ids of the request and its caller to a span.
func (f *callState) annotate(span tracing.Span) {
	span.Set("pressroom.request_id", f.request.RequestID)
	if actor := f.outcome.Call.Actor; actor != nil {
		span.SetID("pressroom.team_id", actor.TeamID)
		span.SetID("pressroom.key_id", actor.KeyID)
	}
}

// classify returns service_unavailable for an internal error that was caused by an unavailable dependency. A call that
// timed out while the dependencies respond remains an internal error, as a retry would take as long.
func (p *Pipeline) classify(ctx context.Context, err error) error {
	if err == nil || apierr.Of(err).Code != apierr.Internal || !p.Unavailable(err) ||
		errors.Is(ctx.Err(), context.DeadlineExceeded) && p.Healthy() {
		return err
	}
	return apierr.Unreachable(err)
}

// Authenticate returns the actor of a credential, as the first step of every call does.
func (p *Pipeline) Authenticate(ctx context.Context, credential string) (*access.Actor, error) {
	actor, err := p.Keys.Authenticate(ctx, credential)
	return actor, p.classify(ctx, err)
}

// recoverPanic runs the steps and returns a panic as an error.
func (p *Pipeline) recoverPanic(ctx context.Context, f *callState) error {
	var err error
	func() {
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic in %s: %v\n%s", f.request.Operation.Tool, cause, debug.Stack())
			}
		}()
		err = p.run(ctx, f)
	}()
	return err
}

// Steps returns the names of the steps in order (contract, order of checks). The API has already checked the path and
// method.
func Steps() []string {
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.name
	}
	return names
}

type (
	handler func(context.Context, *callState) error
	step    struct {
		name string
		run  func(*Pipeline, context.Context, *callState, handler) error
	}
	// callState is the state of a call.
	callState struct {
		request   Request
		arguments []byte // canonical
		outcome   Outcome
		free      FreeCall // nil if none is needed or left
		cost      int64    // credits
	}
)

// Admit runs the steps up to the gates for a request that calls no operation.
func (p *Pipeline) Admit(ctx context.Context, credential string) (Outcome, error) {
	f := &callState{request: Request{Credential: credential}}
	pass := func(context.Context, *callState) error { return nil }
	err := p.authenticate(ctx, f, func(ctx context.Context, f *callState) error {
		return p.requestRate(ctx, f, func(ctx context.Context, f *callState) error { return p.gates(ctx, f, pass) })
	})
	return f.outcome, p.classify(ctx, err)
}

func (p *Pipeline) work(ctx context.Context, f *callState) error {
	if f.request.Operation.Waits && f.request.Person == nil {
		return p.runWaiting(ctx, f)
	}
	result, err := f.request.Operation.Run(ctx, f.outcome.Call, f.arguments)
	f.outcome.Result = result
	return err
}
