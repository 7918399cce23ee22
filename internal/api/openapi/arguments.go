package openapi

import (
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"pressroom.example/pressroom/internal/core/operation"
)

// parameters returns the parameters for the arguments in the path and the query string, and for the Idempotency-Key.
func parameters(op *operation.Operation) []parameter {
	var out []parameter
	for _, name := range op.InPath {
		out = append(out, newParameter(op, name, "path"))
	}
	if op.Reads() {
		for _, name := range op.Input.PropertyOrder {
			if !slices.Contains(op.InPath, name) {
				out = append(out, newParameter(op, name, "query"))
			}
		}
	}
	if op.Key != operation.KeyRejected {
		out = append(out, newKeyParameter(op.Key))
	}
	return out
}

func newParameter(op *operation.Operation, name, in string) parameter {
	s := op.Input.Properties[name].CloneSchemas()
	p := parameter{Name: name, In: in, Description: s.Description, Schema: s, Example: op.Example.Arguments[name],
		Required: in == "path" || slices.Contains(op.Input.Required, name)}
	s.Description = ""
	if s.Type == "array" {
		p.Style, p.Explode = "form", new(false)
	}
	return p
}

func newKeyParameter(rule operation.KeyRule) parameter {
	p := parameter{Name: "Idempotency-Key", In: "header", Required: rule == operation.KeyRequired,
		Schema: &jsonschema.Schema{Type: "string", MinLength: new(1), MaxLength: new(rule.MaxKey())},
		Description: "A unique value that you choose, such as a UUID. Repeating the request with the same key " +
			"within 24 hours has no further effect and returns the first response."}
	if p.Required {
		p.Description += " Required: without it, nothing is done or charged."
	}
	return p
}

// body returns the request body of an operation that writes, or nil if all arguments are in the path. In that case, the
// API also accepts {}.
func (b *builder) body(op *operation.Operation) *bodyObject {
	schema := withoutProperties(op.Input, op.InPath...)
	if op.Reads() || len(schema.Properties) == 0 {
		return nil
	}
	name := GoName(op.Tool) + RequestSuffix
	b.components.Schemas[name] = schema
	media := mediaType{Schema: ref(name)}
	if example := bodyExample(op); len(example) > 0 {
		media.Example = example
	}
	return &bodyObject{Required: len(schema.Required) > 0, Content: map[string]mediaType{"application/json": media}}
}

func bodyExample(op *operation.Operation) map[string]any {
	out := map[string]any{}
	for name, value := range op.Example.Arguments {
		if !slices.Contains(op.InPath, name) {
			out[name] = value
		}
	}
	return out
}

// withoutProperties returns a copy of an object schema without the members with the given names.
func withoutProperties(s *jsonschema.Schema, names ...string) *jsonschema.Schema {
	out := s.CloneSchemas()
	isDropped := func(name string) bool { return slices.Contains(names, name) }
	out.PropertyOrder = slices.DeleteFunc(slices.Clone(out.PropertyOrder), isDropped)
	out.Required = slices.DeleteFunc(slices.Clone(out.Required), isDropped)
	for _, name := range names {
		delete(out.Properties, name)
	}
	return out
}
