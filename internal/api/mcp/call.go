package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
)

// keyArgument is the argument that stands for the Idempotency-Key header.
const (
	keyArgument = "idempotency_key"
	keyHeader   = "Idempotency-Key"
)

// errHeader refuses the key where it would be passed over, and the call be done again for a repeat.
var errHeader = apierr.Invalid(apierr.KeyNotAccepted, "",
	"The tools read the key from no header: send it as the argument "+keyArgument+". Nothing was done.")

// call answers one tool call. A refusal is a result too, never an error of the protocol, so that the assistant
// sees what to mend.
func (x *exchange) call(
	ctx context.Context, op *operation.Operation, raw json.RawMessage, tell func(operation.Progress),
) *sdk.CallToolResult {
	args, key, unfit := arguments(op, raw)
	if len(x.r.Header.Values("Idempotency-Key")) > 0 {
		unfit = errHeader
	}
	outcome, err := x.run(ctx, pipeline.Request{
		Operation: op, Key: key, Tell: tell, Arguments: func() (operation.Arguments, error) { return args, unfit },
	})
	if err != nil {
		return x.refusal(err)
	}
	result, err := x.success(op, outcome)
	if err != nil {
		return x.refusal(err)
	}
	return result
}

// run puts a call through the pipeline for whoever sent the request. A read ends with the request: nobody is left to
// answer, and there is nothing to finish.
func (x *exchange) run(ctx context.Context, r pipeline.Request) (pipeline.Outcome, error) {
	x.tool = r.Operation.Tool
	if r.Operation.Reads() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(x.r.Context(), cancel)()
	}
	r.Credential, r.RequestID = x.credential, x.id
	outcome, err := x.edge.pipe.Call(ctx, r)
	x.rates = outcome.Rates
	if err == nil {
		x.status = r.Operation.Success
	}
	return outcome, err
}

// arguments reads what a call was sent and takes the idempotency key out of it.
func arguments(op *operation.Operation, raw json.RawMessage) (operation.Arguments, pipeline.Key, error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return operation.Arguments{}, pipeline.Key{}, nil
	}
	args, err := operation.ParseObject(raw)
	if err != nil {
		return nil, pipeline.Key{}, err
	}
	key, err := takeKey(op, args)
	return args, key, err
}

func takeKey(op *operation.Operation, args operation.Arguments) (pipeline.Key, error) {
	value, given := args[keyArgument]
	text, isText := value.(string)
	switch {
	case !given:
		return pipeline.Key{}, nil
	case isText && !op.Reads() && apikey.In(text):
		return pipeline.Key{Given: true, Text: text}, nil // it stays among the arguments, where secrets are refused
	}
	delete(args, keyArgument)
	if op.Reads() {
		return pipeline.Key{Given: true}, nil // of whatever kind, the pipeline refuses it
	}
	switch value.(type) {
	case string:
		return pipeline.Key{Given: true, Text: strings.TrimSpace(text)}, nil // as a header's value is read
	case []any, map[string]any:
		return pipeline.Key{}, apierr.Invalid(apierr.NotASingleValue, keyArgument,
			"The argument "+keyArgument+" must be a single string.")
	}
	return pipeline.Key{}, apierr.Invalid(apierr.Malformed, keyArgument,
		"The argument "+keyArgument+" has to be a text.")
}
