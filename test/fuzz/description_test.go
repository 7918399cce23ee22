package fuzz

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"pressroom.example/pressroom/internal/api/openapi"
	"pressroom.example/pressroom/internal/api/rest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// schema is a JSON Schema in the API description.
type schema map[string]any

func (s schema) text(name string) string {
	text, _ := s[name].(string)
	return text
}

func (s schema) list(name string) []any {
	items, _ := s[name].([]any)
	return items
}

func (s schema) below(name string) schema {
	m, _ := s[name].(map[string]any)
	return m
}

// number returns a bound, or otherwise if there is none.
func (s schema) number(name string, otherwise int) int {
	if n, ok := s[name].(float64); ok {
		return int(n)
	}
	return otherwise
}

// argument is an argument of an operation, in the path, the query or the body.
type argument struct {
	name     string
	place    string // path, query or body
	schema   schema
	required bool
	example  any
}

// described is an operation in the API description.
type described struct {
	tool, method, path string
	arguments          []argument
	keyed              bool // accepts an Idempotency-Key
	keyRequired        bool
	success            int
	answers            map[int]*jsonschema.Resolved
}

// subject returns the first segment of an operation's path, which identifies its results.
func (d *described) subject() string {
	first, _, _ := strings.Cut(d.path[1:], "/")
	return strings.ReplaceAll(first, "-", "_")
}

// document is the part of the description used to generate requests.
type document struct {
	Paths map[string]map[string]struct {
		Tool       string `json:"x-tool"`
		Parameters []struct {
			Name     string
			In       string
			Required bool
			Schema   schema
			Example  any
		}
		RequestBody struct {
			Content map[string]struct {
				Schema  schema
				Example map[string]any
			}
		} `json:"requestBody"`
		Responses map[string]json.RawMessage
	}
	Components struct {
		Schemas   map[string]json.RawMessage
		Responses map[string]json.RawMessage
	}
}

// describe reads the API description from the server, which includes new operations. Its schemas reject unknown
// members.
func (h *env) describe() []*described {
	h.t.Helper()
	raw := must.Get(openapi.Build(h.Registry(),
		openapi.Info{Version: openapi.Version, ServerURL: h.cfg.PublicURL + rest.Prefix, Strict: true}))(h.t)
	// jsonschema-go resolves references in $defs.
	raw = bytes.ReplaceAll(raw, []byte("#/components/schemas/"), []byte("#/$defs/"))
	var doc document
	must.NoError(h.t, json.Unmarshal(raw, &doc))
	problem := doc.resolve(h.t, json.RawMessage(`{"$ref":"#/$defs/Problem"}`))
	var out []*described
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			out = append(out, doc.operation(h.t, method, path, problem))
		}
	}
	if len(out) != len(h.Registry().All()) {
		h.t.Fatalf("the description has %d operations, the server %d", len(out), len(h.Registry().All()))
	}
	return out
}

func (doc *document) operation(t *testing.T, method, path string, problem *jsonschema.Resolved) *described {
	t.Helper()
	op := doc.Paths[path][method]
	d := &described{tool: op.Tool, method: strings.ToUpper(method), path: path, answers: map[int]*jsonschema.Resolved{}}
	for _, p := range op.Parameters {
		if p.In == "header" {
			d.keyed, d.keyRequired = true, p.Required
			continue
		}
		d.arguments = append(d.arguments, argument{p.Name, p.In, doc.inline(t, p.Schema), p.Required, p.Example})
	}
	body := op.RequestBody.Content["application/json"]
	body.Schema = doc.inline(t, body.Schema)
	for _, name := range slices.Sorted(maps.Keys(body.Schema.below("properties"))) {
		of, _ := body.Schema.below("properties")[name].(map[string]any)
		d.arguments = append(d.arguments,
			argument{name, "body", of, slices.Contains(body.Schema.list("required"), any(name)), body.Example[name]})
	}
	for status, answer := range op.Responses {
		code := must.Get(strconv.Atoi(status))(t)
		if code >= 400 {
			d.answers[code] = problem
			continue
		}
		var success struct {
			Content map[string]struct{ Schema json.RawMessage }
		}
		must.NoError(t, json.Unmarshal(answer, &success))
		d.success = code
		d.answers[code] = doc.resolve(t, success.Content["application/json"].Schema)
	}
	return d
}

// inline returns a schema without references.
func (doc *document) inline(t *testing.T, s schema) schema {
	t.Helper()
	if name, ok := strings.CutPrefix(s.text("$ref"), "#/$defs/"); ok {
		s = nil
		must.NoError(t, json.Unmarshal(doc.Components.Schemas[name], &s))
	}
	if items := s.below("items"); items != nil {
		s["items"] = map[string]any(doc.inline(t, items))
	}
	properties := s.below("properties")
	for name := range properties {
		properties[name] = map[string]any(doc.inline(t, properties.below(name)))
	}
	return s
}

// resolve resolves a schema with references to the document's components.
func (doc *document) resolve(t *testing.T, raw json.RawMessage) *jsonschema.Resolved {
	t.Helper()
	var members map[string]any
	must.NoError(t, json.Unmarshal(raw, &members))
	members["$defs"] = doc.Components.Schemas
	whole := must.Get(json.Marshal(members))(t)
	var s jsonschema.Schema
	must.NoError(t, json.Unmarshal(whole, &s))
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(fmt.Errorf("resolving a schema of the description: %w", err))
	}
	return resolved
}
