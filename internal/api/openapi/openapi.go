// Package openapi turns the registry of operations into the OpenAPI 3.1 description of the API. It is a pure
// function: the same registry gives the same bytes. api/openapi.json is its golden file.
package openapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"pressroom/internal/core/operation"
)

const dialect = "https://json-schema.org/draft/2020-12/schema"

// Info is what the registry does not know of the document.
type Info struct {
	Version   string // info.version
	ServerURL string // where the paths begin, without a slash at its end
	// Closed forbids members of answers that are not described, so that a test sees them. The document for
	// clients leaves answers open, as new members may come within v1.
	Closed bool
}

// Build writes the description of all operations as indented JSON.
func Build(reg *operation.Registry, info Info) ([]byte, error) {
	b := builder{closed: info.Closed, components: baseComponents()}
	b.part("Moment", operation.MomentSchema())
	paths := map[string]map[string]operationObject{}
	tags := map[string]bool{}
	for _, op := range reg.All() {
		described, err := b.operation(op)
		if err != nil {
			return nil, fmt.Errorf("describing %s: %w", op.Tool, err)
		}
		if paths[op.Path] == nil {
			paths[op.Path] = map[string]operationObject{}
		}
		paths[op.Path][strings.ToLower(op.Method)] = described
		tags[described.Tags[0]] = true
	}
	return write(document{
		OpenAPI: "3.1.0",
		Info: infoObject{
			Title: "pressroom", Summary: "Analytics and social publishing for one team", Description: about,
			Version: info.Version, License: licenseObject{"Apache License 2.0", "Apache-2.0"},
		},
		Dialect: dialect,
		Servers: []server{{URL: info.ServerURL}},
		Security: []map[string][]string{
			{"apiKey": {}},
		},
		Tags:       tagObjects(tags),
		Paths:      paths,
		Components: b.components,
	})
}

const about = `A REST API that works in exactly one team, the one its API key was made in.

Reads take their arguments in the query string alone, every other method takes one JSON object. Only the declared
arguments are accepted. Times are ISO 8601; a time without an offset is read in the team's time zone.

A success is one JSON object: ` + "`data`" +
	` holds the answer, and a member with nothing in it is left out. A refusal is a
problem document (RFC 9457); programs act on its ` + "`code`" + ` and ` + "`status`" + ` alone.

Within v1 only additions are made: new addresses, new optional members, new values of the vocabularies and new
codes. A client passes over members it does not know.

` + "`x-tool`" + ` names the matching tool for assistants, ` + "`x-capability`" + ` what the key has to be allowed, and
` + "`x-additional-capability`" + ` what it has to be allowed besides, and when. ` + "`x-price`" +
	` is what a call costs in credits, one amount or the
least and the most; ` + "`x-recurring-price`" +
	` what it may commit the team to over and over, when that repeats and how it stops.

Limits. Requests are counted for each key, over REST and as tools together; writes, and calls that reach social networks, are
counted besides. ` + "`RateLimit`" + ` and ` + "`RateLimit-Policy`" +
	` tell how those limits stand. Calls that charge nothing draw on the team's
daily allowance, which ` + "`GET /limits`" + ` tells.`

// builder gathers the components while the operations are described.
type builder struct {
	closed     bool
	components components
}

func (b *builder) operation(op *operation.Operation) (operationObject, error) {
	tag, err := tagOf(op.Path)
	if err != nil {
		return operationObject{}, err
	}
	responses, err := b.responses(op)
	if err != nil {
		return operationObject{}, err
	}
	return operationObject{
		ID: op.Tool, Summary: op.Summary, Description: op.FullDescription(), Tags: []string{tag},
		extensions: extensionsOf(op), Parameters: parameters(op), Body: body(op), Responses: responses,
	}, nil
}

// extensionsOf says what only our own members can say of an operation.
func extensionsOf(op *operation.Operation) extensions {
	out := extensions{Tool: op.Tool, Capability: op.Needs}
	if op.Also != nil {
		out.Additional = &additional{Capability: op.Also.Capability, When: op.Also.When}
	}
	if p := op.Price; p != nil {
		out.Price = &price{Min: &p.Min, Max: &p.Max}
		if p.Min == p.Max {
			out.Price = &price{Credits: &p.Max}
		}
		if r := p.Recurring; r != nil {
			out.Recurring = &recurring{r.Credits, r.Repeats, r.Stops}
		}
	}
	return out
}

// write indents the document and takes away the escapes that only HTML would need.
func write(doc document) ([]byte, error) {
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("writing the description: %w", err)
	}
	out := jsontext.Value(raw)
	if err := out.Format(jsontext.Multiline(true), jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("indenting the description: %w", err)
	}
	return append(out, '\n'), nil
}
