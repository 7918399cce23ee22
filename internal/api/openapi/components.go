package openapi

import (
	"maps"

	"github.com/google/jsonschema-go/jsonschema"

	"pressroom/internal/api/problem"
	"pressroom/internal/core/operation"
)

// baseComponents are those that do not hang on the operations.
func baseComponents() components {
	return components{
		SecuritySchemes: map[string]securityScheme{
			"apiKey": {
				Type: "http", Scheme: "bearer",
				Description: "A team API key, made by the team's owner in the app. Nothing else authenticates.",
			},
		},
		Headers:   maps.Clone(headerComponents),
		Responses: map[string]response{},
		Schemas:   map[string]*jsonschema.Schema{"Problem": problemSchema()},
	}
}

// problemSchema is the problem document. It stays open, and so does its context: both may grow within v1.
func problemSchema() *jsonschema.Schema {
	s := operation.SchemaFor[problem.Document]()
	s.AdditionalProperties = &jsonschema.Schema{}
	s.Description = "Every refusal (RFC 9457). Only code and status are for programs to act on."
	code := s.Properties["code"]
	code.Description = "The stable reason. Codes may be added within v1; a client that meets one it does not know " +
		"acts on the status."
	for _, e := range problem.Entries() {
		code.Enum = append(code.Enum, string(e.Code))
	}
	c := s.Properties["context"]
	c.Properties = contextMembers()
	return s
}

func contextMembers() map[string]*jsonschema.Schema {
	text := func(description string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Description: description}
	}
	return map[string]*jsonschema.Schema{
		"reason":   text("What is wrong, of validation_failed; charge_key_spent of idempotency_key_reused."),
		"argument": text("The name of the argument that is to blame."),
		"item": {
			Type: "integer", Minimum: new(0.0),
			Description: "Which item is to blame where the argument is a list; the first is 0.",
		},
		"scope": text("What was used up, of a limit."),
		"state": text("The item's state, which does not allow this."),
		"paused": text("The kind of action that is paused, of connection_suspended; absent where " +
			"everything is."),
		"limit":               text("The plan's limit, of plan_limit_reached."),
		"retry_after_seconds": {Type: "integer", Minimum: new(1.0), Description: "As Retry-After."},
		"problems": {
			Type: "array", Items: &jsonschema.Schema{Type: "string"},
			Description: "The codes of what the networks would not take, of preflight_blocked.",
		},
	}
}
