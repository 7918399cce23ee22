package openapi

import (
	"github.com/google/jsonschema-go/jsonschema"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/core/operation"
)

// baseComponents returns the components that do not depend on operations.
func baseComponents() components {
	return components{
		SecuritySchemes: map[string]securityScheme{
			"apiKey": {
				Type: "http", Scheme: "bearer",
				Description: "A team API key. The team's owner creates it in the app.",
			},
		},
		Responses: map[string]response{errorComponent: sharedErrorResponse()},
		Schemas:   map[string]*jsonschema.Schema{"Problem": problemSchema()},
	}
}

// problemSchema returns the schema of problem documents. It allows additional members, both at the top level and in
// context, because members may be added within v1.
func problemSchema() *jsonschema.Schema {
	s := operation.SchemaFor[problem.Document]()
	s.AdditionalProperties = &jsonschema.Schema{}
	s.Description = "Problem document of every error (RFC 9457). Handle code and status."
	code := s.Properties["code"]
	code.Description = "Stable error code. Codes may be added within v1; for an unknown code, handle the status."
	for _, e := range problem.Entries() {
		code.Enum = append(code.Enum, string(e.Code))
	}
	c := s.Properties["context"]
	c.Properties = contextMembers()
	return s
}

func contextMembers() map[string]*jsonschema.Schema {
	stringSchema := func(description string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Description: description}
	}
	return map[string]*jsonschema.Schema{
		"reason":   stringSchema("For validation_failed, what is wrong. For idempotency_key_reused: charge_key_spent, or absent."),
		"argument": stringSchema("Name of the invalid argument."),
		"item": {
			Type: "integer", Minimum: new(0.0),
			Description: "For a list, index of the invalid item, starting at 0.",
		},
		"scope":               stringSchema("Name of the limit that was reached."),
		"state":               stringSchema("For wrong_state, the item's current state."),
		"paused":              stringSchema("For connection_suspended, the paused kind of action. Absent if everything is paused."),
		"limit":               stringSchema("For plan_limit_reached, the name of the plan limit."),
		"retry_after_seconds": {Type: "integer", Minimum: new(1.0), Description: "Seconds to wait, as in Retry-After."},
		"problems": {
			Type: "array", Items: &jsonschema.Schema{Type: "string"},
			Description: "For preflight_blocked, the codes of the problems.",
		},
	}
}
