package pipeline

import (
	"context"

	"pressroom.example/pressroom/internal/core/operation"
)

// runWaiting runs an operation that may wait, for a key or a connection. The key may be revoked or blocked in the
// meantime. Therefore, runWaiting authorizes the key again before each progress report and before the response. If the
// key is rejected, runWaiting stops waiting.
func (p *Pipeline) runWaiting(ctx context.Context, cs *callState) error {
	workCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	call := cs.outcome.Call
	if onProgress := call.OnProgress; onProgress != nil {
		call.OnProgress = func(progress operation.Progress) {
			if p.reauthorize(ctx, cs) != nil {
				cancel() // the authorization before the response returns the error
				return
			}
			onProgress(progress)
		}
	}
	result, err := cs.request.Operation.Run(workCtx, call, cs.arguments)
	if authErr := p.reauthorize(ctx, cs); authErr != nil {
		return authErr
	}
	cs.outcome.Result = result
	return err
}

// reauthorize returns an error if the caller would now be rejected. It does not count a request.
func (p *Pipeline) reauthorize(ctx context.Context, cs *callState) error {
	actor, err := p.Keys.Authenticate(ctx, cs.request.Credential)
	if err != nil {
		return err
	}
	if err := CheckGates(actor); err != nil {
		return err
	}
	return operation.Call{Actor: actor}.Require(cs.request.Operation.Needs)
}
