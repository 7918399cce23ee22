package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
)

// Tools accept the idempotency key as an argument instead of a header.
const (
	keyArgument = "idempotency_key"
	keyHeader   = "Idempotency-Key"
)

// errKeyInHeader rejects a key in the header. If the key were ignored, a repeated call would be performed twice.
var errKeyInHeader = apierr.Invalid(apierr.IdempotencyKeyNotAccepted, "",
	"Tools do not read the key from a header. Send it as the argument "+keyArgument+". Nothing was done.")

// call performs a tool call. It returns errors of the call as results, not as protocol errors, so that the assistant
// can see and correct them.
func (x *exchange) call(
	ctx context.Context, op *operation.Operation, raw json.RawMessage, reportProgress func(operation.Progress),
) *sdk.CallToolResult {
	args, key, argsErr := parseArguments(op, raw)
	if len(x.r.Header.Values(keyHeader)) > 0 {
		argsErr = errKeyInHeader
	}
	outcome, err := x.run(ctx, pipeline.Request{
		Operation: op, IdempotencyKey: key, OnProgress: reportProgress, Arguments: func() (operation.Arguments,
			error) {
			return args, argsErr
		},
	})
	if err != nil {
		return x.errorResult(err)
	}
	result, err := x.successResult(op, outcome)
	if err != nil {
		return x.errorResult(err)
	}
	return result
}

// run calls an operation through the pipeline. A read is canceled when the client disconnects, because it has no side
// effects. Whether that also cancels a write depends on the protocol version (see newHandler).
func (x *exchange) run(ctx context.Context, req pipeline.Request) (pipeline.Outcome, error) {
	x.tool = req.Operation.Tool
	if req.Operation.Reads() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(x.r.Context(), cancel)()
	}
	req.Credential, req.RequestID = x.credential, x.id
	outcome, err := x.edge.pipe.Call(ctx, req)
	x.rates = outcome.Rates
	if err == nil {
		x.status = req.Operation.Success
	}
	return outcome, err
}

// parseArguments parses the arguments of a call. It returns the idempotency key separately from the other arguments.
func parseArguments(op *operation.Operation, raw json.RawMessage) (operation.Arguments, pipeline.Key, error) {
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
	value, ok := args[keyArgument]
	text, isText := value.(string)
	switch {
	case !ok:
		return pipeline.Key{}, nil
	case isText && !op.Reads() && apikey.ContainsSecret(text):
		// Keep the key among the arguments, so that their validation rejects the secret.
		return pipeline.Key{Given: true, Text: text}, nil
	}
	delete(args, keyArgument)
	if op.Reads() {
		return pipeline.Key{Given: true}, nil // the pipeline rejects the key
	}
	switch value.(type) {
	case string:
		return pipeline.Key{Given: true, Text: strings.TrimSpace(text)}, nil // header values are trimmed too
	case []any, map[string]any:
		return pipeline.Key{}, apierr.Invalid(apierr.NotASingleValue, keyArgument,
			"The argument "+keyArgument+" must be a single string.")
	}
	return pipeline.Key{}, apierr.Invalid(apierr.Malformed, keyArgument,
		"The argument "+keyArgument+" must be a string.")
}
