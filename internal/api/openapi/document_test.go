package openapi_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"pressroom.example/pressroom/internal/api/openapi"
	"pressroom.example/pressroom/internal/core/operation"
)

// described is the part of a document that the tests read.
type (
	described struct {
		OpenAPI    string
		Servers    []struct{ URL string }
		Paths      map[string]map[string]describedOperation
		Components struct {
			Schemas   map[string]*jsonschema.Schema
			Responses map[string]describedResponse
		}
	}
	describedOperation struct {
		ID          string                            `json:"operationId"`
		Tool        string                            `json:"x-tool"`
		Capability  string                            `json:"x-capability"`
		Additional  struct{ Capability, When string } `json:"x-additional-capability"`
		Parameters  []describedParameter
		RequestBody *struct {
			Required bool
			Content  map[string]describedMedia
		}
		Responses map[string]describedResponse
	}
	describedParameter struct {
		Name, In, Style string
		Required        bool
		Explode         *bool
		Schema          *jsonschema.Schema
		Example         any
	}
	describedResponse struct {
		Ref     string `json:"$ref"`
		Content map[string]describedMedia
	}
	describedMedia struct {
		Schema   *jsonschema.Schema
		Example  any
		Examples map[string]struct{ Value any }
	}
)

// parse reads a document. It rewrites references so that schemas resolve with the components as $defs.
func parse(t *testing.T, raw []byte) described {
	t.Helper()
	var doc described
	raw = bytes.ReplaceAll(raw, []byte("#/components/schemas/"), []byte("#/$defs/"))
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatalf("reading the document: %v", err)
	}
	return doc
}

func (d described) resolve(t *testing.T, s *jsonschema.Schema) *jsonschema.Resolved {
	t.Helper()
	root := s.CloneSchemas()
	root.Defs = d.Components.Schemas
	resolved, err := root.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatalf("a schema is invalid: %v", err)
	}
	return resolved
}

func (d described) fits(t *testing.T, s *jsonschema.Schema, value any) {
	t.Helper()
	if err := d.resolve(t, s).Validate(value); err != nil {
		t.Errorf("the example does not fit its schema: %v", err)
	}
}

func (d described) each(t *testing.T, do func(t *testing.T, method, path string, op describedOperation)) {
	t.Helper()
	for path, item := range d.Paths {
		for method, op := range item {
			t.Run(op.ID, func(t *testing.T) { do(t, method, path, op) })
		}
	}
}

func TestOperationDescriptions(t *testing.T) {
	doc := parse(t, build(t, openapi.Version))
	var want, got []string
	for _, op := range registry().All() {
		d := doc.Paths[op.Path][strings.ToLower(op.Method)]
		want, got = append(want, op.Tool), append(got, d.ID)
		if d.Tool != op.Tool || d.Capability != string(op.Needs) {
			t.Errorf("%s: x-tool %q, x-capability %q, want %q", op.Tool, d.Tool, d.Capability, op.Needs)
		}
		if op.ConditionalCapability != nil &&
			(d.Additional.Capability != string(op.ConditionalCapability.Capability) ||
				d.Additional.When != op.ConditionalCapability.When) {
			t.Errorf("%s: x-additional-capability %+v, want %+v", op.Tool, d.Additional, op.ConditionalCapability)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-registry +document):\n%s", diff)
	}
	if _, ok := doc.Paths["/openapi.json"]; ok {
		t.Error("the document describes its own endpoint")
	}
}

func TestExamplesFit(t *testing.T) {
	for name, closed := range map[string]bool{"open": false, "closed": true} {
		t.Run(name, func(t *testing.T) {
			raw, err := openapi.Build(registry(), openapi.Info{Version: openapi.Version, ServerURL: apiPath, Strict: closed})
			if err != nil {
				t.Fatalf("Build: %v", err)
			}
			doc := parse(t, raw)
			doc.each(t, func(t *testing.T, _, _ string, op describedOperation) { checkExamples(t, doc, op) })
			for code, r := range doc.Components.Responses {
				t.Run(code, func(t *testing.T) { checkResponse(t, doc, r) })
			}
		})
	}
}

func checkExamples(t *testing.T, doc described, op describedOperation) {
	for _, p := range op.Parameters {
		if p.In == "path" && p.Example == nil {
			t.Errorf("path parameter %s has no example", p.Name)
		}
		if p.Example != nil {
			doc.fits(t, p.Schema, p.Example)
		}
	}
	if body := op.RequestBody; body != nil {
		media := body.Content["application/json"]
		switch {
		case media.Example != nil:
			doc.fits(t, media.Schema, media.Example)
		case len(media.Schema.Required) > 0:
			t.Error("the body has no example")
		}
	}
	for status, r := range op.Responses {
		if status < "300" {
			checkResponse(t, doc, r)
		}
	}
}

func checkResponse(t *testing.T, doc described, r describedResponse) {
	for _, media := range r.Content {
		if media.Example == nil && len(media.Examples) == 0 {
			t.Error("a response has no example")
		}
		if media.Example != nil {
			doc.fits(t, media.Schema, media.Example)
		}
		for _, one := range media.Examples {
			doc.fits(t, media.Schema, one.Value)
		}
	}
}

// The examples pass the checks of a real call, not only the schemas.
func TestExamplesPassTheChecks(t *testing.T) {
	for _, op := range registry().All() {
		t.Run(op.Tool, func(t *testing.T) {
			raw, err := json.Marshal(op.Example.Arguments)
			if err != nil {
				t.Fatalf("writing the example: %v", err)
			}
			if op.Example.Data == nil {
				t.Error("the response has no example")
			}
			if op.Example.Arguments == nil {
				raw = []byte("{}")
			}
			args, err := operation.ParseObject(raw)
			if err != nil {
				t.Fatalf("ParseObject: %v", err)
			}
			if _, err := op.Check(args); err != nil {
				t.Errorf("Check: %v", err)
			}
		})
	}
}

func TestPathPatterns(t *testing.T) {
	long := strings.Repeat("a", 64)
	forms := map[string]struct{ valid, invalid []string }{
		"job_id": {
			[]string{"social_post:019d3889-2b11-7d5a-9e0c-0c8f1d3e0002", "a:b", strings.Repeat("a", 32) + ":" + long},
			[]string{"", "nocolon", "UP:a", "a:", ":a", "a:b_c", "a:" + long + "a", strings.Repeat("a", 33) + ":a", "a:b\n"},
		},
		"id": {
			[]string{"019d3889-2b10-7c1e-8a3f-5d2b6f6f0001", "A-9", long},
			[]string{"", "a_b", "a b", "a:b", "é", long + "a", "a\n"},
		},
		"type": {[]string{"profile", "hashtag"}, []string{"", "story", "Profile", "profile "}},
	}
	forms["post_id"] = forms["id"]
	integer := struct{ valid, invalid []string }{[]string{"1", "999999999"}, []string{"", "one", "-1", "1.5", "01"}}
	forms["account_id"], forms["list_id"], forms["id of get_brand_voice"] = integer, integer, integer
	doc := parse(t, build(t, openapi.Version))
	doc.each(t, func(t *testing.T, _, _ string, op describedOperation) {
		i := slices.IndexFunc(registry().All(), func(o *operation.Operation) bool { return o.Tool == op.ID })
		declared := registry().All()[i]
		for _, p := range op.Parameters {
			if p.In != "path" {
				continue
			}
			form, known := forms[p.Name+" of "+op.ID] // if it differs from other operations
			if !known {
				form, known = forms[p.Name]
			}
			if !known || !p.Required {
				t.Fatalf("path parameter %s: known %v, required %v", p.Name, known, p.Required)
			}
			pattern := regexp.MustCompile(p.Schema.Pattern) // integers and enums have none
			for _, text := range form.valid {
				if !pattern.MatchString(text) || !declared.IsValidPathArgument(p.Name, text) {
					t.Errorf("%s rejects %q", p.Name, text)
				}
			}
			for _, text := range form.invalid {
				if p.Schema.Pattern != "" && pattern.MatchString(text) || declared.IsValidPathArgument(p.Name, text) {
					t.Errorf("%s accepts %q", p.Name, text)
				}
			}
		}
	})
}

func TestErrorResponses(t *testing.T) {
	doc := parse(t, build(t, openapi.Version))
	want := map[string]string{
		"get_identity": "200 401 403 422 429 500 503", "get_job": "200 401 403 404 422 429 500 503",
		"list_social_accounts": "200 401 403 422 429 500 503", "list_posts": "200 401 403 404 422 429 500 503",
		"get_post": "200 401 403 404 422 429 500 503", "validate_post": "200 401 403 404 422 429 500 503",
		"create_post": "201 401 403 404 409 422 429 500 503", "update_post": "200 401 403 404 409 422 429 500 503",
		"cancel_post": "200 401 403 404 409 422 429 500 503", "schedule_post": "200 401 403 404 409 422 429 500 503",
		"publish_post": "202 401 403 404 409 422 429 500 503", "retry_post": "202 401 403 404 409 422 429 500 503",
	}
	got := map[string]string{}
	for _, item := range doc.Paths {
		for _, op := range item {
			if want[op.ID] != "" {
				got[op.ID] = statuses(op)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statuses (-want +document):\n%s", diff)
	}
	for name, r := range doc.Components.Responses {
		if _, ok := r.Content["application/problem+json"]; !ok {
			t.Errorf("%s is no problem document", name)
		}
	}
}

func status(op *operation.Operation) string { return strconv.Itoa(op.Success) }

func statuses(op describedOperation) string {
	var out []string
	for status := range op.Responses {
		out = append(out, status)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
