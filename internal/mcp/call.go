package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom/internal/fault"
	"pressroom/internal/operation"
	"pressroom/internal/pipeline"
	"pressroom/internal/problem"
	"pressroom/internal/secret"
)

// keyArgument is the argument that stands for the Idempotency-Key header.
const keyArgument = "idempotency_key"

// call answers one tool call. A refusal is a result too, never an error of the protocol, so that the assistant
// sees what to mend.
func (x *exchange) call(ctx context.Context, op *operation.Operation, raw json.RawMessage) *sdk.CallToolResult {
	x.tool = op.Tool
	body, err := x.run(ctx, op, raw)
	if err != nil {
		return x.refusal(err)
	}
	x.status = op.Success
	return &sdk.CallToolResult{Content: text(body), StructuredContent: json.RawMessage(body)}
}

func (x *exchange) run(ctx context.Context, op *operation.Operation, raw json.RawMessage) ([]byte, error) {
	args, key, unfit := arguments(op, raw)
	outcome, err := x.edge.pipe.Call(ctx, pipeline.Request{
		Operation: op, Credential: x.credential, RequestID: x.id, Key: key,
		Arguments: func() (operation.Arguments, error) { return args, unfit },
	})
	x.rates = outcome.Rates
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(outcome.Envelope(x.edge.opts.PublicURL))
	if err != nil {
		return nil, fmt.Errorf("writing an answer of %s: %w", op.Tool, err)
	}
	return body, nil
}

// refusal gives the problem document as text alone. As structuredContent it would have to fit the tool's
// outputSchema, and clients that check it would show their own error in place of ours.
func (x *exchange) refusal(err error) *sdk.CallToolResult {
	x.cause = err
	doc := problem.Of(err, x.edge.opts.PublicURL)
	x.status = doc.Status
	body, err := json.Marshal(doc)
	if err != nil {
		x.cause, x.status, body = err, http.StatusInternalServerError, []byte("{}")
	}
	return &sdk.CallToolResult{Content: text(body), IsError: true}
}

func text(body []byte) []sdk.Content { return []sdk.Content{&sdk.TextContent{Text: string(body)}} }

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
	case isText && !op.Reads() && secret.In(text):
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
		return pipeline.Key{}, fault.Invalid(fault.NotASingleValue, keyArgument, "The argument "+keyArgument+" takes one text.")
	}
	return pipeline.Key{}, fault.Invalid(fault.Malformed, keyArgument, "The argument "+keyArgument+" has to be a text.")
}
