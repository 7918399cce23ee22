package networktest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"pressroom/internal/network"
)

// Description returns a network's own description of its API, and skips the test if it is not available.
func Description(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "api-descriptions", name)) //nolint:gosec // named by a test
	if err != nil {
		t.Skip("the network's description is not available")
	}
	return content
}

// OpenAPI is an OpenAPI description of a network.
type OpenAPI struct {
	*openapi3.T

	Host string // host of the described servers, or "" for any
	Base string // prefix of paths in the sandbox
}

// DescribedBy returns an OpenAPI description.
func DescribedBy(t *testing.T, name, host, base string) OpenAPI {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(Description(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return OpenAPI{doc, host, base}
}

// find returns the operation for a request, preferably of a path without parameters.
func (o OpenAPI) find(method, path string) (*routers.Route, map[string]string) {
	var found *routers.Route
	params := map[string]string{}
	for template, item := range o.Paths.Map() {
		got, ok := match(template, path)
		if operation := item.GetOperation(method); ok && operation != nil && (found == nil || len(got) < len(params)) {
			found, params = &routers.Route{
				Spec: o.T, Path: template, PathItem: item, Method: method, Operation: operation,
			}, got
		}
	}
	return found, params
}

func match(template, path string) (map[string]string, bool) {
	want, have := strings.Split(template, "/"), strings.Split(path, "/")
	params := map[string]string{}
	if len(want) != len(have) {
		return nil, false
	}
	for i, part := range want {
		if name, isParam := strings.CutPrefix(part, "{"); isParam {
			params[strings.TrimSuffix(name, "}")] = have[i]
		} else if part != have[i] {
			return nil, false
		}
	}
	return params, true
}

// Check checks a request and its response, and returns the template of its path. Errors without a type of their
// own are not described.
func (o OpenAPI) Check(t *testing.T, r Request) string {
	t.Helper()
	path := strings.TrimPrefix(r.URL.Path, o.Base)
	route, params := o.find(r.Method, path)
	if route == nil {
		t.Errorf("%s %s is not described", r.Method, r.URL.Path)
		return ""
	}
	for name := range r.URL.Query() {
		if route.Operation.Parameters.GetByInAndName("query", name) == nil {
			t.Errorf("%s %s: the parameter %s is not described", r.Method, r.URL.Path, name)
		}
	}
	address := *r.URL
	if o.Host != "" {
		address.Scheme, address.Host, address.Path = "https", o.Host, path
	}
	request, err := http.NewRequestWithContext(t.Context(), r.Method, address.String(), bytes.NewReader(r.Body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = r.Header
	input := &openapi3filter.RequestValidationInput{
		Request: request, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	if err := openapi3filter.ValidateRequest(t.Context(), input); err != nil {
		t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	if bytes.Contains(r.Answer, []byte("about:blank")) {
		return route.Path
	}
	header := r.AnswerHeader.Clone()
	if o.Host != "" && r.Status >= http.StatusBadRequest {
		header.Set("Content-Type", "application/problem+json")
	}
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: r.Status, Header: header, Body: io.NopCloser(bytes.NewReader(r.Answer)),
	})
	if err != nil {
		t.Errorf("%s %s: HTTP %d: %v", r.Method, r.URL.Path, r.Status, err)
	}
	return route.Path
}

// Object is Meta's description of a kind of object: its fields and its edges.
type Object struct {
	Fields []named `json:"fields"`
	APIs   []struct {
		Method   string  `json:"method"`
		Endpoint string  `json:"endpoint"`
		Params   []named `json:"params"`
	} `json:"apis"`
}

type named struct {
	Name string `json:"name"`
}

// ObjectOf returns the description of a kind of object.
func ObjectOf(t *testing.T, name string) Object {
	t.Helper()
	var o Object
	if err := json.Unmarshal(Description(t, "meta-"+name+".json"), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// Names returns the names of the fields, and more.
func (o Object) Names(more ...string) []string {
	for _, f := range o.Fields {
		more = append(more, f.Name)
	}
	return more
}

// Params returns the parameters of a call, including those of every call, or nil if the call is not described.
func (o Object) Params(method, endpoint string) []string {
	for _, api := range o.APIs {
		if api.Method == method && strings.Trim(api.Endpoint, "/") == endpoint {
			names := []string{"access_token", "fields", "limit"}
			for _, p := range api.Params {
				names = append(names, p.Name)
			}
			return names
		}
	}
	return nil
}

// WantDescribed checks that all names are described.
func WantDescribed(t *testing.T, what string, described, names []string) {
	t.Helper()
	for _, name := range names {
		if name != "" && !slices.Contains(described, name) {
			t.Errorf("%s: %s is not described", what, name)
		}
	}
}

// MakeEveryCall makes each call of publishing at least once, for each kind of post and of sign-in.
func (f *Fixture) MakeEveryCall() {
	f.t.Helper()
	count := 0
	for _, kind := range f.c.kinds() {
		g := f.Connect(kind, Account)
		for _, p := range f.c.Posts {
			d := f.MustPrepare(g, "each "+p.Name+" "+kind+" https://example.org", p.media(f.Library)...)
			r := f.Publish(g, d)
			count++
			if verdict, _, err := f.Resolve(g, d); verdict != network.Published || err != nil {
				f.t.Fatalf("verdict %v, %v", verdict, err)
			}
			f.WantPermalink(g, r)
		}
		f.Clock.Advance(f.c.MinAge)
		f.Renew(g)
		for _, text := range []string{
			"[sandbox:reject]", "[sandbox:error]", "[sandbox:rate-limit]", "[sandbox:expired-token]",
		} {
			g = f.Connect(kind, Account)
			if d, err := f.Prepare(g, f.Plan(text+" "+kind, f.Media()...)); err == nil {
				_, _ = f.Commit(g, d)
			}
		}
	}
	f.WantPosts(count)
}
