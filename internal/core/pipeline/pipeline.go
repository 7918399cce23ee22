// Package pipeline runs calls to operations. For each request from the API or the app, it runs the checks in order and
// then the operation. It returns the result or an error.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/loadshed"
	"pressroom.example/pressroom/internal/platform/tracing"
)

// Request is a call to an operation.
type Request struct {
	Operation  *operation.Operation
	Credential string // the bearer token; may be empty
	// Person is the person who is signed in to the app if the call comes from the app, and otherwise nil. The limits of
	// keys and the allowance of free calls do not apply to such a call.
	Person *access.Actor
	// Arguments parses the arguments. It is called only after the caller is authorized.
	Arguments      func() (operation.Arguments, error)
	IdempotencyKey Key
	RequestID      string
	OnProgress     func(operation.Progress) // see operation.Call; may be nil
}

// Key is the Idempotency-Key of a request.
type Key struct {
	Given     bool
	Duplicate bool // the request contains more than one key
	Text      string
}

// Outcome is the outcome of a call. If the call fails, only Call and Rates are set.
type Outcome struct {
	operation.Result
	Call     operation.Call
	At       time.Time // time of the response
	Replayed bool      // the result comes from an earlier call with the same key
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
	if ports.Slots == nil {
		ports.Slots = loadshed.New(loadshed.DefaultLimit())
	}
	if ports.Unavailable == nil {
		ports.Unavailable = func(error) bool { return false }
	}
	if ports.Healthy == nil {
		ports.Healthy = func() bool { return false }
	}
	p := &Pipeline{Ports: ports, now: now}
	p.run = func(ctx context.Context, cs *callState) error { return p.work(ctx, cs) }
	for _, step := range slices.Backward(steps) {
		next := p.run
		p.run = func(ctx context.Context, cs *callState) error { return step.run(p, ctx, cs, next) }
	}
	return p
}

const callTimeout = 30 * time.Second

// Call runs a request through all steps.
func (p *Pipeline) Call(ctx context.Context, r Request) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	ctx, span := tracing.Start(ctx, r.Operation.Tool)
	cs := &callState{
		request: r,
		outcome: Outcome{
			Call: operation.Call{
				Operation: r.Operation.Tool, RequestID: r.RequestID, OnProgress: r.OnProgress,
				Now: p.now().UTC().Truncate(time.Microsecond),
			},
		},
	}
	err := p.runRecovering(ctx, cs)
	cs.annotate(span)
	span.End(err)
	if err != nil {
		return Outcome{Call: cs.outcome.Call, Rates: cs.outcome.Rates}, p.classify(ctx, err)
	}
	cs.outcome.At = p.now().UTC().Truncate(time.Microsecond)
	return cs.outcome, nil
}

// annotate adds the IDs of the request, the team and the key to a span.
func (cs *callState) annotate(span tracing.Span) {
	span.Set("pressroom.request_id", cs.request.RequestID)
	if actor := cs.outcome.Call.Actor; actor != nil {
		span.SetID("pressroom.team_id", actor.TeamID)
		span.SetID("pressroom.key_id", actor.KeyID)
	}
}

// classify converts an internal error to service_unavailable if an unavailable dependency caused it. If a call timed
// out although the dependencies respond, the error remains internal, because a retry would take just as long.
func (p *Pipeline) classify(ctx context.Context, err error) error {
	if err == nil || apierr.FromError(err).Code != apierr.Internal || !p.Unavailable(err) ||
		errors.Is(ctx.Err(), context.DeadlineExceeded) && p.Healthy() {
		return err
	}
	return apierr.Unreachable(err)
}

// Authenticate returns the actor that a credential identifies, as the first step of every call does.
func (p *Pipeline) Authenticate(ctx context.Context, credential string) (*access.Actor, error) {
	actor, err := p.Keys.Authenticate(ctx, credential)
	return actor, p.classify(ctx, err)
}

// runRecovering runs the steps. It converts a panic to an error.
func (p *Pipeline) runRecovering(ctx context.Context, cs *callState) error {
	var err error
	func() {
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic in %s: %v\n%s", cs.request.Operation.Tool, cause, debug.Stack())
			}
		}()
		err = p.run(ctx, cs)
	}()
	return err
}

// Steps returns the names of the steps in the order in which they run. Before the first step, the API has already
// checked the path and the method.
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
		arguments []byte // canonical JSON
		outcome   Outcome
		freeCall  FreeCall // nil if the call does not need a free call or none is left
		cost      int64    // credits
	}
)

// Admit runs the steps up to and including the gates. It is for requests that do not call an operation.
func (p *Pipeline) Admit(ctx context.Context, credential string) (Outcome, error) {
	cs := &callState{request: Request{Credential: credential}}
	pass := func(context.Context, *callState) error { return nil }
	err := p.authenticate(ctx, cs, func(ctx context.Context, cs *callState) error {
		return p.checkRequestRate(ctx, cs, func(ctx context.Context, cs *callState) error { return p.checkGates(ctx, cs, pass) })
	})
	return cs.outcome, p.classify(ctx, err)
}

func (p *Pipeline) work(ctx context.Context, cs *callState) error {
	if cs.request.Operation.MayWait && cs.request.Person == nil {
		return p.runWaiting(ctx, cs)
	}
	result, err := cs.request.Operation.Run(ctx, cs.outcome.Call, cs.arguments)
	cs.outcome.Result = result
	return err
}
