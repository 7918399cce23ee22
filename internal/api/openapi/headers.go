package openapi

import (
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"

	"pressroom.example/pressroom/internal/core/operation"
)

var headerComponents = map[string]header{
	"Location": {
		Description: "URL of the created item or of its job.", Required: true,
		Schema: &jsonschema.Schema{Type: "string", Format: "uri"},
	},
	"NextPage": {
		Description: "The next page, with rel=\"next\". Absent on the last page.",
		Schema:      &jsonschema.Schema{Type: "string"},
	},
	"IdempotentReplayed": {
		Description: "Present if this repeats the first response to the Idempotency-Key.",
		Schema:      &jsonschema.Schema{Type: "string", Enum: []any{"true"}},
	},
}

// responseHeaders returns the headers of an operation's response. Those of every response are in the description of the
// API, since most generators add types for each header of each response.
func responseHeaders(op *operation.Operation) map[string]header {
	out := map[string]header{}
	if op.Success == http.StatusCreated || op.Success == http.StatusAccepted {
		out["Location"] = headerRef("Location")
	}
	if isPaginated(op) {
		out["Link"] = headerRef("NextPage")
	}
	if op.Key != operation.KeyRefused {
		out["Idempotent-Replayed"] = headerRef("IdempotentReplayed")
	}
	return out
}

func headerRef(component string) header { return header{Ref: "#/components/headers/" + component} }
