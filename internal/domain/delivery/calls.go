package delivery

import (
	"context"
	"errors"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/tracing"
)

// startCall starts the span of a network call.
func (a *attempt) startCall(ctx context.Context, name string) (context.Context, tracing.Span) {
	ctx, span := tracing.Start(ctx, name)
	span.Set("pressroom.platform", a.grant.Platform)
	return ctx, span
}

// endCall ends the span of a network call.
func endCall(span tracing.Span, err error) {
	if networkErr, ok := errors.AsType[*network.Error](err); ok {
		span.Set("pressroom.result", string(networkErr.Class))
	}
	span.End(err)
}

// reportCall reports a call to the metrics and to the circuits. Only a commit can close the circuit of the account's
// server, because a failing network may still serve reads.
func (a *attempt) reportCall(ctx context.Context, call string, err error) {
	if ctx.Err() != nil {
		return // The call was canceled by this process.
	}
	if a.s.opts.OnCall != nil {
		a.s.opts.OnCall(a.grant.Platform, call, callResult(err))
	}
	if errors.Is(err, errLeaseStale) {
		return // Nothing was sent.
	}
	e, _ := errors.AsType[*network.Error](err)
	switch call {
	case "prepare":
		a.reportPrepare(e, err == nil)
	case "commit":
		a.reportCommit(e, err == nil)
	}
}

// reportPrepare reports a prepare call to the circuits. A success or a rejection closes only circuits of servers other
// than the account's.
func (a *attempt) reportPrepare(e *network.Error, ok bool) {
	switch {
	case isOutage(e):
		a.s.breakers.recordFailure(a.calledServer(e), a.d.ID)
	case ok, e != nil && e.Host != "" && e.Class != network.HostBlocked:
		for _, s := range a.s.breakers.otherFailedServers(a.server, a.d.ID) {
			a.s.breakers.recordResponse(s)
		}
	}
}

func (a *attempt) reportCommit(e *network.Error, ok bool) {
	switch {
	case isOutage(e):
		a.s.breakers.recordFailure(a.calledServer(e), a.d.ID)
	case ok, e != nil && e.Class != network.HostBlocked:
		a.s.breakers.recordResponse(a.server)
	}
}

// isOutage reports whether a server did not respond or returned a server error. e may be nil.
func isOutage(e *network.Error) bool {
	return e != nil && (e.Class == network.Transient || e.Class == network.OutcomeUnknown && !e.IsClientError())
}

// calledServer returns the server that an error came from.
func (a *attempt) calledServer(e *network.Error) server {
	if e.Host == "" {
		return a.server
	}
	return server{a.grant.Platform, e.Host}
}

// callResult returns the value of the metric label "result".
func callResult(err error) string {
	if e, ok := errors.AsType[*network.Error](err); ok {
		return string(e.Class)
	}
	if err != nil {
		return "failed"
	}
	return "ok"
}
