package openapi

import (
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"pressroom/internal/core/operation"
)

// parameters are the arguments that stand in the path or the query string, and the Idempotency-Key.
func parameters(op *operation.Operation) []parameter {
	var out []parameter
	for _, name := range op.InPath {
		out = append(out, argument(op, name, "path"))
	}
	if op.Reads() {
		for _, name := range op.Input.PropertyOrder {
			if !slices.Contains(op.InPath, name) {
				out = append(out, argument(op, name, "query"))
			}
		}
	}
	if op.Key != operation.KeyRefused {
		out = append(out, idempotencyKey(op.Key))
	}
	return out
}

func argument(op *operation.Operation, name, in string) parameter {
	s := op.Input.Properties[name].CloneSchemas()
	p := parameter{Name: name, In: in, Description: s.Description, Schema: s, Example: op.Example.Arguments[name],
		Required: in == "path" || slices.Contains(op.Input.Required, name)}
	s.Description = ""
	if s.Type == "array" {
		p.Style, p.Explode = "form", new(false)
	}
	return p
}

func idempotencyKey(rule operation.KeyRule) parameter {
	p := parameter{Name: "Idempotency-Key", In: "header", Required: rule == operation.KeyRequired,
		Schema: &jsonschema.Schema{Type: "string", MinLength: new(1), MaxLength: new(rule.MaxKey())},
		Description: "Any text of your own. The same request with the same key within 24 hours does nothing " +
			"again and " +
			"gets the first answer."}
	if p.Required {
		p.Description += " Without it nothing is done or charged."
	}
	return p
}

// body is the JSON object of a write. An operation without arguments beyond its path takes {} or no body.
func body(op *operation.Operation) *bodyObject {
	if op.Reads() {
		return nil
	}
	schema := without(op.Input, op.InPath...)
	media := mediaType{Schema: schema}
	if example := sentInBody(op); len(example) > 0 {
		media.Example = example
	}
	return &bodyObject{Required: len(schema.Required) > 0, Content: map[string]mediaType{"application/json": media}}
}

func sentInBody(op *operation.Operation) map[string]any {
	out := map[string]any{}
	for name, value := range op.Example.Arguments {
		if !slices.Contains(op.InPath, name) {
			out[name] = value
		}
	}
	return out
}

// without copies the schema of an object and leaves some of its members out.
func without(s *jsonschema.Schema, names ...string) *jsonschema.Schema {
	out := s.CloneSchemas()
	left := func(name string) bool { return slices.Contains(names, name) }
	out.PropertyOrder = slices.DeleteFunc(slices.Clone(out.PropertyOrder), left)
	out.Required = slices.DeleteFunc(slices.Clone(out.Required), left)
	for _, name := range names {
		delete(out.Properties, name)
	}
	return out
}
