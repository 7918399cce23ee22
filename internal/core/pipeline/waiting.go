package pipeline

import (
	"context"

	"pressroom/internal/core/operation"
)

// waiting does the work of an operation that may wait, for a key or a connection. Meanwhile it may be revoked, or
// something may come in its way; so it is looked at again before each word of how far the work is, which ends the wait
// where that stands, and before the answer.
func (p *Pipeline) waiting(ctx context.Context, f *flight) error {
	during, end := context.WithCancel(ctx)
	defer end()
	call := f.outcome.Call
	if tell := call.Tell; tell != nil {
		call.Tell = func(far operation.Progress) {
			if p.still(ctx, f) != nil {
				end() // the last look tells why
				return
			}
			tell(far)
		}
	}
	result, err := f.request.Operation.Run(during, call, f.arguments)
	if refusal := p.still(ctx, f); refusal != nil {
		return refusal
	}
	f.outcome.Result = result
	return err
}

// still refuses a call that would be refused now because of who makes it. It counts nothing.
func (p *Pipeline) still(ctx context.Context, f *flight) error {
	actor, err := p.Keys.Authenticate(ctx, f.request.Credential)
	if err != nil {
		return err
	}
	if err := Gates(actor); err != nil {
		return err
	}
	return operation.Call{Actor: actor}.Require(f.request.Operation.Needs)
}
