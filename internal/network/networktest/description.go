package networktest

import (
	"bytes"
	"embed"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"pressroom.example/pressroom/internal/network"
)

// descriptions has the parts of the networks' API descriptions that the adapters use.
//
//go:embed descriptions/*.json
var descriptions embed.FS

// decodeDescription decodes one of the descriptions.
func decodeDescription(name string, out any) {
	content, err := descriptions.ReadFile("descriptions/" + name)
	if err == nil {
		err = json.Unmarshal(content, out)
	}
	if err != nil {
		panic(err) // The embedded files are valid.
	}
}

// OpenAPI is an OpenAPI description of a network.
type OpenAPI struct {
	load func() *openapi3.T
	host string // host of the described servers, or "" for any
	base string // prefix of paths in the sandbox
}

// LoadOpenAPI returns an embedded OpenAPI description. On first use, it is loaded and the changes are applied to it.
func LoadOpenAPI(name, host, base string, changes ...func(*openapi3.T)) OpenAPI {
	load := sync.OnceValue(func() *openapi3.T {
		content, err := descriptions.ReadFile("descriptions/" + name)
		if err != nil {
			panic(err) // The embedded files are valid.
		}
		doc, err := openapi3.NewLoader().LoadFromData(content)
		if err != nil {
			panic(err)
		}
		for _, change := range changes {
			change(doc)
		}
		return doc
	})
	return OpenAPI{load, host, base}
}

// find returns the operation for a request and its path parameters, or nil. If several paths match, it returns the one
// with the fewest parameters.
func (o OpenAPI) find(method, path string) (*routers.Route, map[string]string) {
	var route *routers.Route
	params := map[string]string{}
	doc := o.load()
	for template, item := range doc.Paths.Map() {
		got, ok := match(template, path)
		if operation := item.GetOperation(method); ok && operation != nil && (route == nil || len(got) < len(params)) {
			route, params = &routers.Route{
				Spec: doc, Path: template, PathItem: item, Method: method, Operation: operation,
			}, got
		}
	}
	return route, params
}

func match(template, path string) (map[string]string, bool) {
	templateParts, pathParts := strings.Split(template, "/"), strings.Split(path, "/")
	params := map[string]string{}
	if len(templateParts) != len(pathParts) {
		return nil, false
	}
	for i, part := range templateParts {
		if name, isParam := strings.CutPrefix(part, "{"); isParam {
			params[strings.TrimSuffix(name, "}")] = pathParts[i]
		} else if part != pathParts[i] {
			return nil, false
		}
	}
	return params, true
}

// Check checks a request and its response, and returns the template of its path, or "" if the path is not described. It
// does not check problem documents of the type about:blank.
func (o OpenAPI) Check(tb testing.TB, r Request) string {
	tb.Helper()
	path := strings.TrimPrefix(r.URL.Path, o.base)
	route, params := o.find(r.Method, path)
	if route == nil {
		tb.Errorf("%s %s is not described", r.Method, r.URL.Path)
		return ""
	}
	for name := range r.URL.Query() {
		if route.Operation.Parameters.GetByInAndName("query", name) == nil {
			tb.Errorf("%s %s: the parameter %s is not described", r.Method, r.URL.Path, name)
		}
	}
	address := *r.URL
	if o.host != "" {
		address.Scheme, address.Host, address.Path = "https", o.host, path
	}
	request, err := http.NewRequestWithContext(tb.Context(), r.Method, address.String(), bytes.NewReader(r.Body))
	if err != nil {
		tb.Fatal(err)
	}
	request.Header = r.Header
	input := &openapi3filter.RequestValidationInput{
		Request: request, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	if err := openapi3filter.ValidateRequest(tb.Context(), input); err != nil {
		tb.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	if r.Status == 0 || bytes.Contains(r.ResponseBody, []byte("about:blank")) {
		return route.Path
	}
	header := r.ResponseHeader.Clone()
	if o.host != "" && r.Status >= http.StatusBadRequest {
		header.Set("Content-Type", "application/problem+json")
	}
	err = openapi3filter.ValidateResponse(tb.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: r.Status, Header: header,
		Body: io.NopCloser(bytes.NewReader(r.ResponseBody)),
	})
	if err != nil {
		tb.Errorf("%s %s: HTTP %d: %v", r.Method, r.URL.Path, r.Status, err)
	}
	return route.Path
}

// Object is a summary of Meta's description of a kind of object.
type Object struct {
	Fields []string                       `json:"fields"`
	Calls  map[string]map[string][]string `json:"calls"` // allowed values of the parameters, by method and edge
}

var metaObjects = sync.OnceValue(func() map[string]Object {
	var objects map[string]Object
	decodeDescription("meta.json", &objects)
	return objects
})

// MetaObject returns the description of a kind of object.
func MetaObject(name string) Object { return metaObjects()[name] }

// Names returns the names of the fields, followed by more.
func (o Object) Names(extra ...string) []string { return append(extra, o.Fields...) }

// Params returns the parameters of a call, including those of every call, or nil if the call is not described.
func (o Object) Params(method, edge string) []string {
	params, described := o.Calls[method+" "+edge]
	if !described {
		return nil
	}
	names := []string{"access_token", "appsecret_proof", "fields", "limit"}
	return slices.AppendSeq(names, maps.Keys(params))
}

// CheckValues checks that enumeration parameters of a call have described values, ignoring case.
func (o Object) CheckValues(tb testing.TB, method, edge string, params url.Values) {
	tb.Helper()
	for name, allowed := range o.Calls[method+" "+edge] {
		for _, value := range strings.FieldsFunc(params.Get(name), func(r rune) bool { return r == ',' }) {
			if len(allowed) > 0 && !slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, value) }) {
				tb.Errorf("%s %s: %s is not a value of %s", method, edge, value, name)
			}
		}
	}
}

// WantDescribed checks that all names are described.
func WantDescribed(tb testing.TB, label string, described, names []string) {
	tb.Helper()
	for _, name := range names {
		if name != "" && !slices.Contains(described, name) {
			tb.Errorf("%s: %s is not described", label, name)
		}
	}
}

// Summary is a summary of Meta's Postman collection for the Threads API.
type Summary struct {
	Calls   map[string][]string // parameters by method and path
	Samples map[string][]string // such as the values of fields and metrics
}

// ThreadsSummary returns the summary of the Threads API.
var ThreadsSummary = sync.OnceValue(func() Summary {
	var s Summary
	decodeDescription("threads.json", &s)
	return s
})

// MakeEveryCall makes each publishing call at least once, for each kind of post and each sign-in method.
func (f *Fixture) MakeEveryCall() {
	f.t.Helper()
	count := 0
	for _, kind := range f.c.kinds() {
		g := f.Connect(kind, Account)
		for _, p := range f.c.Posts {
			d := f.MustPrepare(g, "each "+p.Name+" "+kind+" https://example.org", f.useContent(p)...)
			r := f.Publish(g, d)
			count++
			if verdict, _, err := f.Resolve(g, d); verdict != network.Published || err != nil {
				f.t.Fatalf("verdict %v, %v", verdict, err)
			}
			f.WantPermalink(g, r)
		}
		f.Clock.Advance(f.c.MinRefreshAge)
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
