package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
)

// newTool returns the MCP tool for an operation. It panics if a schema is invalid.
func newTool(op *operation.Operation) *sdk.Tool {
	return &sdk.Tool{
		Name: op.Tool, Title: op.Summary, Description: toolDescription(op),
		InputSchema: schemaText(op, inputSchema(op)), OutputSchema: schemaText(op, outputSchema(op)),
		Annotations: &sdk.ToolAnnotations{
			Title:        op.Summary,
			ReadOnlyHint: op.Reads(),
			// If the key is required, equal arguments include the same idempotency key.
			IdempotentHint:  op.Reads() || op.Idempotent || op.Key == operation.KeyRequired,
			DestructiveHint: new(op.Destructive),
			OpenWorldHint:   new(isOpenWorld(op)),
		},
	}
}

// isOpenWorld reports whether a tool reaches social networks or other internet hosts.
func isOpenWorld(op *operation.Operation) bool {
	isExternal := func(c access.Capability) bool { return c == access.Publish || c == access.Spend }
	return op.Success == http.StatusAccepted || isExternal(op.Needs) || op.ConditionalCapability != nil &&
		isExternal(op.ConditionalCapability.Capability)
}

func toolDescription(op *operation.Operation) string {
	out := strings.TrimSuffix(op.Summary, ".") + ". " + useKeyArgument(op.FullDescription()) +
		" Requires the capability " + string(op.Needs)
	if op.ConditionalCapability != nil {
		out += ", and " + string(op.ConditionalCapability.Capability) + " if " + op.ConditionalCapability.When
	}
	return out + "." + priceText(op)
}

// priceText returns sentences about the price of a call, or "" if the call is free.
func priceText(op *operation.Operation) string {
	p := op.Price
	if p == nil {
		return ""
	}
	out := fmt.Sprintf(" Costs %d to %d credits.", p.Min, p.Max)
	if p.Min == p.Max {
		out = fmt.Sprintf(" Costs %d credits.", p.Max)
	}
	if r := p.Recurring; r != nil {
		out += fmt.Sprintf(" Then %d credits %s. Stops %s.", r.Credits, r.Repeats, r.Stops)
	}
	return out
}

// inputSchema returns the operation's input schema. If the operation accepts an idempotency key, the schema includes
// it.
func inputSchema(op *operation.Operation) *jsonschema.Schema {
	s := op.Input.CloneSchemas()
	splitTypes(s)
	if op.Key == operation.KeyRejected {
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
		Description: "A unique value that you choose, such as a UUID; a new one for each new intent. Repeating the " +
			"call with the same key within 24 hours has no further effect and returns the first result.",
	}
}

// outputSchema returns the schema of a response, with only the top-level members of its data. The list of tools is part
// of every conversation with a model, so it must be short. The OpenAPI document contains the full schemas.
func outputSchema(op *operation.Operation) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "object", Required: []string{"data"},
		Properties: map[string]*jsonschema.Schema{"data": outline(op, op.Output, 1)},
	}
}

// outline returns a schema with only its types and enumerations, and with members down to the given depth.
func outline(op *operation.Operation, s *jsonschema.Schema, depth int) *jsonschema.Schema {
	if name, ok := strings.CutPrefix(s.Ref, operation.ComponentsRef); ok {
		if s = op.Components[name]; s == nil { // the component Moment, which all operations share
			s = operation.MomentSchema()
		}
	}
	out := &jsonschema.Schema{Type: s.Type, Types: slices.Clone(s.Types), Enum: s.Enum}
	if s.Type == "" && len(s.Types) == 0 {
		out.Type = "object" // the result of a job has no fixed type
	}
	splitTypes(out)
	if s.Items != nil {
		out.Items = outline(op, s.Items, depth)
	}
	if depth > 0 && len(s.Properties) > 0 {
		out.Properties, out.PropertyOrder = map[string]*jsonschema.Schema{}, s.PropertyOrder
		for name, member := range s.Properties {
			out.Properties[name] = outline(op, member, depth-1)
		}
	}
	return out
}

// splitTypes replaces a list of types with alternatives (anyOf), because some clients support only schemas with a
// single type.
func splitTypes(s *jsonschema.Schema) {
	for _, member := range s.Properties {
		splitTypes(member)
	}
	for _, name := range s.Types {
		s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Type: name})
	}
	s.Types = nil
}

// schemaText returns a schema as JSON. It includes empty properties, because some clients require them.
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
