package delivery

import (
	"context"
	"errors"

	"pressroom/internal/network"
	"pressroom/internal/platform/tracing"
)

// startCall begins the part of a way that a call to the network is.
func (a *attempt) startCall(ctx context.Context, name string) (context.Context, tracing.Span) {
	ctx, span := tracing.Start(ctx, name)
	span.Set("pressroom.platform", a.grant.Platform)
	return ctx, span
}

func endCall(span tracing.Span, err error) {
	if said, ok := errors.AsType[*network.Error](err); ok {
		span.Set("pressroom.result", string(said.Class))
	}
	span.End(err)
}

// reportCall tells the operator's figures and the circuit how a call went. Only what could show a post says that a network
// is well: one may read and yet take nothing.
func (a *attempt) reportCall(ctx context.Context, call string, err error) {
	if ctx.Err() != nil {
		return // we cut it off ourselves
	}
	if a.s.opts.OnCall != nil {
		a.s.opts.OnCall(a.grant.Platform, call, callResult(err))
	}
	e, said := errors.AsType[*network.Error](err)
	shows := call == "commit"
	switch {
	case said && e.Class == network.Barred, errors.Is(err, errLeaseStale): // it was never asked
	case said && (e.Class == network.Transient || e.Class == network.Uncertain && !e.Answered()):
		if shows || call == "prepare" {
			a.s.circuits.recordFailure(a.server, a.d.ID)
		}
	case shows && (said || err == nil):
		a.s.circuits.recordAnswer(a.server)
	}
}

// callResult is how the operator's figures name what came of a call.
func callResult(err error) string {
	if e, said := errors.AsType[*network.Error](err); said {
		return string(e.Class)
	}
	if err != nil {
		return "failed"
	}
	return "ok"
}
