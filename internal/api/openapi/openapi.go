// Package openapi generates the API's OpenAPI 3.1 document from the registry of operations. The output is
// deterministic. The golden file is api/openapi.json.
package openapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"pressroom.example/pressroom/internal/core/operation"
)

const dialect = "https://json-schema.org/draft/2020-12/schema"

// Info contains the parts of the document that do not come from the registry.
type Info struct {
	Version   string // info.version
	ServerURL string // base URL of the paths, without a trailing slash
	// Strict forbids undescribed members in responses, so that tests find them. The document for clients allows them,
	// because members may be added within v1.
	Strict bool
}

// Build returns the document for all operations as indented JSON.
func Build(reg *operation.Registry, info Info) ([]byte, error) {
	b := builder{strict: info.Strict, components: baseComponents()}
	b.addPart("Moment", operation.MomentSchema())
	paths := map[string]map[string]operationObject{}
	tags := map[string]bool{}
	for _, op := range reg.All() {
		object, err := b.operation(op)
		if err != nil {
			return nil, fmt.Errorf("describing %s: %w", op.Tool, err)
		}
		if paths[op.Path] == nil {
			paths[op.Path] = map[string]operationObject{}
		}
		paths[op.Path][strings.ToLower(op.Method)] = object
		tags[object.Tags[0]] = true
	}
	for _, op := range reg.All() {
		if op.Variants != nil {
			b.addVariants(op)
		}
	}
	if err := inlineParts(b.components.Schemas, paths); err != nil {
		return nil, err
	}
	if err := nameSchemas(b.components.Schemas, paths); err != nil {
		return nil, err
	}
	docs := strings.TrimSuffix(info.ServerURL, "/api/v1") + "/docs"
	return marshal(document{
		OpenAPI: "3.1.0",
		Info: infoObject{
			Title: "pressroom", Summary: "Analytics and social publishing for one team", Description: apiDescription,
			Version: info.Version, Contact: contactObject{"pressroom", docs}, License: licenseObject{"Apache License 2.0", "Apache-2.0"},
		},
		Dialect: dialect,
		Docs:    externalDocs{"Guides, the reference and all error codes", docs},
		Servers: []server{{URL: info.ServerURL}},
		Security: []map[string][]string{
			{"apiKey": {}},
		},
		Tags:       tagObjects(tags),
		Paths:      paths,
		Components: b.components,
	})
}

var apiDescription = strings.ReplaceAll(`A REST API for one team: the team in which the API key was created.

## Requests

GET requests take arguments in the query string; all other methods take one JSON object, or no body if all arguments
are in the path. Unknown arguments are rejected. Times are ISO 8601; a time without an offset is in the team's time zone.

## Responses

A successful response is one JSON object: "data" holds the result, and empty fields are omitted. An error is a
problem document (RFC 9457); handle its "code" and "status".

## Versions

Within v1, the API changes only by new endpoints, optional fields, enum values and codes. Ignore unknown fields.

## Extensions of OpenAPI

"x-tool" is the name of the matching tool for assistants. "x-capability" is what the key must be allowed to do: "read",
"write", "publish" or "spend". "x-additional-capability" is another capability that it needs under a condition.
"x-price" is the price of a call in credits, fixed or as a range. "x-recurring-price" describes repeated charges that
the call may start: the credits, when they repeat and when they stop.

## Rate limits

Requests are rate limited by key, across REST and tools. Writes and calls that reach social networks have further
limits. Free calls count against the team's daily allowance, which "GET /limits" returns.

## Response headers

Every response has these headers:

- "X-Request-Id" is the ID of the request in the logs.
- "RateLimit" is the state of the rate limits after the request (draft-ietf-httpapi-ratelimit-headers): "r" is the
number of calls that are allowed now, and "t" is the number of seconds until the full number is allowed again or, after
"rate_limited", until the next call is allowed. It is absent if the request was rejected before it was counted.
- "RateLimit-Policy" has the limits: "q" calls within "w" seconds.
- "Cache-Control" is "no-store".

Some responses have more:

- "Location" of a response with status 201 or 202 is the URL of the item or of its job.
- "Link" of a page of a list has the URL of the next page.
- "Idempotent-Replayed: true" means that the response repeats the first one to the Idempotency-Key.
- "WWW-Authenticate" comes with status 401.
- "Retry-After" comes with errors that end by themselves. It is the number of seconds to wait, as in
"context.retry_after_seconds".`, `"`, "`")

// builder collects components while it describes operations.
type builder struct {
	strict     bool
	components components
}

func (b *builder) operation(op *operation.Operation) (operationObject, error) {
	tag, err := findTag(op.Path)
	if err != nil {
		return operationObject{}, err
	}
	responses, err := b.responses(op)
	if err != nil {
		return operationObject{}, err
	}
	return operationObject{
		ID: op.Tool, Summary: op.Summary, Description: op.FullDescription(), Tags: []string{tag},
		extensions: newExtensions(op), Parameters: parameters(op), Body: b.body(op), Responses: responses,
	}, nil
}

// newExtensions returns an operation's members with the prefix x-.
func newExtensions(op *operation.Operation) extensions {
	out := extensions{Tool: op.Tool, Capability: op.Needs, Samples: samples()[op.Tool]}
	if op.ConditionalCapability != nil {
		out.Additional = &conditionalCapability{Capability: op.ConditionalCapability.Capability,
			When: op.ConditionalCapability.When}
	}
	if p := op.Price; p != nil {
		out.Price = &price{Min: &p.Min, Max: &p.Max}
		if p.Min == p.Max {
			out.Price = &price{Credits: &p.Max}
		}
		if r := p.Recurring; r != nil {
			out.Recurring = &recurringPrice{r.Credits, r.Repeats, r.Stops}
		}
	}
	return out
}

// marshal returns the document as indented JSON. It leaves out the escapes that only HTML needs.
func marshal(doc document) ([]byte, error) {
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encoding the OpenAPI document: %w", err)
	}
	out := jsontext.Value(raw)
	if err := out.Format(jsontext.Multiline(true), jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("indenting the OpenAPI document: %w", err)
	}
	return append(out, '\n'), nil
}
