package openapi

import (
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"

	"pressroom/internal/core/operation"
)

var headerComponents = map[string]header{
	"RequestId": {
		Description: "The id of this request, also in the logs.", Required: true,
		Schema: &jsonschema.Schema{Type: "string", Format: "uuid"},
	},
	"NoStore": {
		Description: "No answer may be kept by caches.", Required: true,
		Schema: &jsonschema.Schema{Type: "string", Enum: []any{"no-store"}},
	},
	"Location": {
		Description: "Where what was made, or its job, is read.", Required: true,
		Schema: &jsonschema.Schema{Type: "string", Format: "uri"},
	},
	"NextPage": {
		Description: "The next page with rel=\"next\"; absent on the last one.",
		Schema:      &jsonschema.Schema{Type: "string"},
	},
	"IdempotentReplayed": {
		Description: "Present where this is the first answer to the Idempotency-Key, given again.",
		Schema:      &jsonschema.Schema{Type: "string", Enum: []any{"true"}},
	},
	"RetryAfter": {
		Description: "Seconds to wait.", Required: true, Schema: &jsonschema.Schema{Type: "integer", Minimum: new(1.0)},
	},
	"RateLimit": {
		Description: "How the limits by rate stand after this request: r calls may come now, and t seconds " +
			"pass until " +
			"all of them may, or after a refusal until the next one may (draft-ietf-httpapi-ratelimit-headers). " +
			"Absent where the request was refused before it was counted.", Schema: &jsonschema.Schema{Type: "string"},
	},
	"RateLimitPolicy": {
		Description: "The limits by rate: q calls within w seconds. Their names are the scopes of rate_limited.",
		Schema:      &jsonschema.Schema{Type: "string"},
	},
	"Challenge": {
		Description: "Names the scheme to authenticate with.", Required: true,
		Schema: &jsonschema.Schema{Type: "string", Enum: []any{`Bearer realm="api"`}},
	},
}

// everyAnswer names the headers of every answer by what they are sent as.
func everyAnswer() map[string]header {
	return map[string]header{"X-Request-Id": headerRef("RequestId"), "Cache-Control": headerRef("NoStore"),
		"RateLimit": headerRef("RateLimit"), "RateLimit-Policy": headerRef("RateLimitPolicy")}
}

func headersOf(op *operation.Operation) map[string]header {
	out := everyAnswer()
	if op.Success == http.StatusCreated || op.Success == http.StatusAccepted {
		out["Location"] = headerRef("Location")
	}
	if pages(op) {
		out["Link"] = headerRef("NextPage")
	}
	if op.Key != operation.KeyRefused {
		out["Idempotent-Replayed"] = headerRef("IdempotentReplayed")
	}
	return out
}

func headerRef(component string) header { return header{Ref: "#/components/headers/" + component} }
