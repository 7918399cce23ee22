package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
)

// describe makes the tool of an operation. The schemas are written once, here; a bad one stops the program.
func describe(op *operation.Operation) *sdk.Tool {
	return &sdk.Tool{
		Name: op.Tool, Title: op.Summary, Description: description(op),
		InputSchema: schemaText(op, inputSchema(op)), OutputSchema: schemaText(op, outputSchema(op)),
		Annotations: &sdk.ToolAnnotations{
			Title:        op.Summary,
			ReadOnlyHint: op.Reads(),
			// the same arguments hold the same idempotency key
			IdempotentHint:  op.Reads() || op.Repeatable || op.Key == operation.KeyRequired,
			DestructiveHint: new(op.Final),
			OpenWorldHint:   new(reachesOut(op)),
		},
	}
}

// reachesOut tells whether a tool acts on what lies outside: the networks, or an address on the internet.
func reachesOut(op *operation.Operation) bool {
	outside := func(c access.Capability) bool { return c == access.Publish || c == access.Spend }
	return op.Success == http.StatusAccepted || outside(op.Needs) || op.Also != nil && outside(op.Also.Capability)
}

func description(op *operation.Operation) string {
	out := strings.TrimSuffix(op.Summary,
		".") + ". " + keyInTools(op.FullDescription()) + " Needs the capability " + string(op.Needs)
	if op.Also != nil {
		out += ", and " + string(op.Also.Capability) + " when " + op.Also.When
	}
	return out + "." + price(op)
}

// price says what a call costs.
func price(op *operation.Operation) string {
	p := op.Price
	if p == nil {
		return ""
	}
	out := fmt.Sprintf(" Costs %d to %d credits.", p.Min, p.Max)
	if p.Min == p.Max {
		out = fmt.Sprintf(" Costs %d credits.", p.Max)
	}
	if r := p.Recurring; r != nil {
		out += fmt.Sprintf(" Then %d credits %s, until it stops %s.", r.Credits, r.Repeats, r.Stops)
	}
	return out
}

// inputSchema is that of the operation, with the idempotency key as one more argument where it takes one.
func inputSchema(op *operation.Operation) *jsonschema.Schema {
	s := op.Input.CloneSchemas()
	if op.Key == operation.KeyRefused {
		return s
	}
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	s.Properties[keyArgument] = keySchema(op.Key)
	s.PropertyOrder = slices.Concat(s.PropertyOrder, []string{keyArgument})
	if op.Key == operation.KeyRequired {
		s.Required = slices.Concat(s.Required, []string{keyArgument})
	}
	return s
}

func keySchema(rule operation.KeyRule) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "string", MinLength: new(1), MaxLength: new(rule.MaxKey()),
		Description: "A new text of your own, such as a UUID, for each new intent. The same call repeated with the " +
			"same key within 24 hours gives the first result and does nothing again.",
	}
}

// outputSchema is the whole answer, closed in itself: what the API's description keeps as a component is among
// its own definitions.
func outputSchema(op *operation.Operation) *jsonschema.Schema {
	s := operation.SchemaFor[pipeline.Envelope]()
	s.Properties["data"] = op.Output.CloneSchemas()
	s.Defs = map[string]*jsonschema.Schema{"Moment": operation.MomentSchema()}
	for name, part := range op.Within {
		s.Defs[name] = part.CloneSchemas()
	}
	mend(s)
	return s
}

// mend turns references inwards and opens every object: answers may grow within v1, and a client that checks
// them against a list of tools it read earlier must not stumble.
func mend(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if name, within := strings.CutPrefix(s.Ref, operation.ComponentsRef); within {
		s.Ref = "#/$defs/" + name
	}
	if len(s.Types) == 0 {
		s.Types = nil // an empty list is no valid schema
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	mend(s.AdditionalProperties)
	mend(s.Items)
	for _, below := range []map[string]*jsonschema.Schema{s.Properties, s.Defs} {
		for _, p := range below {
			mend(p)
		}
	}
}

// schemaText is a schema as JSON. One without properties says so: some clients take no object schema without them.
func schemaText(op *operation.Operation, s *jsonschema.Schema) json.RawMessage {
	if _, err := s.Resolve(nil); err != nil {
		panic(fmt.Sprintf("schema of the tool %s: %v", op.Tool, err))
	}
	raw, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("schema of the tool %s: %v", op.Tool, err))
	}
	if s.Type == "object" && len(s.Properties) == 0 {
		raw = append([]byte(`{"properties":{},`), raw[1:]...)
	}
	return raw
}
