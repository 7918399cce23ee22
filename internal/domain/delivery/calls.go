package delivery

import (
	"context"
	"errors"

	"pressroom/internal/network"
	"pressroom/internal/platform/tracing"
)

// startCall starts the span of a network call.
func (a *attempt) startCall(ctx context.Context, name string) (context.Context, tracing.Span) {
	ctx, span := tracing.Start(ctx, name)
	span.Set("pressroom.platform", a.grant.Platform)
	return ctx, span
}

// endCall ends the span of a network call.
func endCall(span tracing.Span, err error) {
	if said, ok := errors.AsType[*network.Error](err); ok {
		span.Set("pressroom.result", string(said.Class))
	}
	span.End(err)
}

// reportCall reports a call to the metrics and to the circuit. Only a commit can close the circuit, because a failing
// network may still serve reads.
func (a *attempt) reportCall(ctx context.Context, call string, err error) {
	if ctx.Err() != nil {
		return // we canceled the call
	}
	if a.s.opts.OnCall != nil {
		a.s.opts.OnCall(a.grant.Platform, call, callResult(err))
	}
	e, said := errors.AsType[*network.Error](err)
	shows := call == "commit"
	called := a.server
	if said && e.Host != "" {
		called = server{a.grant.Platform, e.Host}
	}
	switch {
	case said && e.Class == network.HostBlocked, errors.Is(err, errLeaseStale): // nothing was sent
	case said && (e.Class == network.Transient || e.Class == network.Uncertain && !e.IsClientError()):
		if shows || call == "prepare" {
			a.s.circuits.recordFailure(called, a.d.ID)
		}
	case call == "prepare" && (called != a.server || err == nil):
		for _, s := range a.s.circuits.failedElsewhere(a.server, a.d.ID) {
			a.s.circuits.recordAnswer(s)
		}
	case shows && (said || err == nil):
		a.s.circuits.recordAnswer(a.server)
	}
}

// callResult returns the value of the metric label result.
func callResult(err error) string {
	if e, said := errors.AsType[*network.Error](err); said {
		return string(e.Class)
	}
	if err != nil {
		return "failed"
	}
	return "ok"
}
