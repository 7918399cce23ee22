// Package pipeline is the one path around every operation. The edges and the app hand it a request; it runs the
// contract's checks in their order, then the work, and gives back the answer or the refusal.
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

// Request is one call as an edge received it.
type Request struct {
	Operation  *operation.Operation
	Credential string // what was presented as a bearer token; empty where there was none
	// Person is who acts in the app, where that is who asks: a person who is signed in, and no key. Neither the limits
	// of keys nor the free calls of the day bound what people do there; money and rules do.
	Person *access.Actor
	// Arguments reads what was sent, once the caller is known to be allowed to call.
	Arguments func() (operation.Arguments, error)
	Key       Key
	RequestID string
	Tell      func(operation.Progress) // see operation.Call; nil where nobody listens
}

// Key is the Idempotency-Key as it was sent.
type Key struct {
	Given bool
	Twice bool // in more than one place
	Text  string
}

// Outcome is a success.
type Outcome struct {
	operation.Result
	Call     operation.Call
	At       time.Time // when the answer was made
	Replayed bool      // the first result of an earlier call with the same key
	Rates    []Rate    // the limits that the call was counted by; of a refused call too
}

// Pipeline runs calls.
type Pipeline struct {
	Ports
	now func() time.Time
	run handler
}

// New makes a pipeline over its ports.
func New(ports Ports, now func() time.Time) *Pipeline {
	if ports.Room == nil {
		ports.Room = loadshed.New(loadshed.Places())
	}
	if ports.Away == nil {
		ports.Away = func(error) bool { return false }
	}
	if ports.Answers == nil {
		ports.Answers = func() bool { return false }
	}
	p := &Pipeline{Ports: ports, now: now}
	p.run = func(ctx context.Context, f *flight) error { return p.work(ctx, f) }
	for _, step := range slices.Backward(steps) {
		next := p.run
		p.run = func(ctx context.Context, f *flight) error { return step.run(p, ctx, f, next) }
	}
	return p
}

// deadline is how long a call may take, whatever it waits for.
const deadline = 30 * time.Second

// Call runs one request through every step.
func (p *Pipeline) Call(ctx context.Context, r Request) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	ctx, span := tracing.Start(ctx, r.Operation.Tool)
	f := &flight{
		request: r,
		outcome: Outcome{
			Call: operation.Call{
				Operation: r.Operation.Tool, RequestID: r.RequestID, Tell: r.Tell,
				Now: p.now().UTC().Truncate(time.Microsecond),
			},
		},
	}
	err := p.guarded(ctx, f)
	f.tell(span)
	span.End(err)
	if err != nil {
		return Outcome{Call: f.outcome.Call, Rates: f.outcome.Rates}, p.told(ctx, err)
	}
	f.outcome.At = p.now().UTC().Truncate(time.Microsecond)
	return f.outcome, nil
}

// tell tells who asked, by ids.
func (f *flight) tell(span tracing.Span) {
	span.Set("pressroom.request_id", f.request.RequestID)
	if actor := f.outcome.Call.Actor; actor != nil {
		span.SetID("pressroom.team_id", actor.TeamID)
		span.SetID("pressroom.key_id", actor.KeyID)
	}
}

// told says service_unavailable of what failed only because the node is cut off from what it stands on. What was
// refused stays as it is, and so does what took all the time that a call has while the database answers: it would take
// as long again.
func (p *Pipeline) told(ctx context.Context, err error) error {
	if err == nil || apierr.Of(err).Code != apierr.Internal || !p.Away(err) || errors.Is(ctx.Err(),
		context.DeadlineExceeded) && p.Answers() {
		return err
	}
	return apierr.Away(err)
}

// Authenticate finds who a credential acts for, as the first step of every call does.
func (p *Pipeline) Authenticate(ctx context.Context, credential string) (*access.Actor, error) {
	actor, err := p.Keys.Authenticate(ctx, credential)
	return actor, p.told(ctx, err)
}

// guarded runs the steps and makes an error of a panic, so that one bad call ends neither its answer nor the
// program. A transaction that was open is taken back by whoever opened it.
func (p *Pipeline) guarded(ctx context.Context, f *flight) error {
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

// Steps names the steps in their order (contract, order of checks); the edge has seen to address and method.
func Steps() []string {
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.name
	}
	return names
}

type (
	handler func(context.Context, *flight) error
	step    struct {
		name string
		run  func(*Pipeline, context.Context, *flight, handler) error
	}
	// flight is one call on its way through the steps.
	flight struct {
		request   Request
		arguments []byte
		outcome   Outcome
		free      FreeCall // of the day's allowance; nil where none is needed or none was left
		cost      int64    // credits
	}
)

// Admit does for a request that calls no operation what the first steps do for every call.
func (p *Pipeline) Admit(ctx context.Context, credential string) (Outcome, error) {
	f := &flight{request: Request{Credential: credential}}
	pass := func(context.Context, *flight) error { return nil }
	err := p.authenticate(ctx, f, func(ctx context.Context, f *flight) error {
		return p.requestRate(ctx, f, func(ctx context.Context, f *flight) error { return p.gates(ctx, f, pass) })
	})
	return f.outcome, p.told(ctx, err)
}

func (p *Pipeline) work(ctx context.Context, f *flight) error {
	if f.request.Operation.Waits && f.request.Person == nil {
		return p.waiting(ctx, f)
	}
	result, err := f.request.Operation.Run(ctx, f.outcome.Call, f.arguments)
	f.outcome.Result = result
	return err
}
