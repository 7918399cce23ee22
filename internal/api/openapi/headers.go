package openapi

import (
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"

	"pressroom/internal/core/operation"
)

var headerComponents = map[string]header{
	"RequestId": {
		Description: "ID of the request, as in the logs.", Required: true,
		Schema: &jsonschema.Schema{Type: "string", Format: "uuid"},
	},
	"NoStore": {
		Description: "Responses must not be cached.", Required: true,
		Schema: &jsonschema.Schema{Type: "string", Enum: []any{"no-store"}},
	},
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
	"RetryAfter": {
		Description: "Seconds to wait.", Required: true, Schema: &jsonschema.Schema{Type: "integer", Minimum: new(1.0)},
	},
	"RateLimit": {
		Description: "Rate limits after this request: r calls are allowed now, and t is the number of seconds until " +
			"all of them are allowed again or, after rate_limited, until the next one is " +
			"(draft-ietf-httpapi-ratelimit-headers). Absent if the request was rejected before it was counted.",
		Schema: &jsonschema.Schema{Type: "string"},
	},
	"RateLimitPolicy": {
		Description: "Rate limits: q calls within w seconds. Their names are the scopes of rate_limited.",
		Schema:      &jsonschema.Schema{Type: "string"},
	},
	"Challenge": {
		Description: "Authentication scheme.", Required: true,
		Schema: &jsonschema.Schema{Type: "string", Enum: []any{`Bearer realm="api"`}},
	},
}

// commonHeaders returns the header fields of every response.
func commonHeaders() map[string]header {
	return map[string]header{"X-Request-Id": headerRef("RequestId"), "Cache-Control": headerRef("NoStore"),
		"RateLimit": headerRef("RateLimit"), "RateLimit-Policy": headerRef("RateLimitPolicy")}
}

func responseHeaders(op *operation.Operation) map[string]header {
	out := commonHeaders()
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
