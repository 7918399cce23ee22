package x_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

// description is the network's own description of its API.
func description(t *testing.T) *openapi3.T {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "api-descriptions", "x-v2-openapi.json"))
	if err != nil {
		t.Skip("the network's description is not here")
	}
	doc, err := openapi3.NewLoader().LoadFromData(file)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// find is the operation for a request; a path without parameters goes before others.
func find(doc *openapi3.T, method, path string) (*routers.Route, map[string]string) {
	var found *routers.Route
	params := map[string]string{}
	for template, item := range doc.Paths.Map() {
		got, ok := match(template, path)
		if operation := item.GetOperation(method); ok && operation != nil && (found == nil || len(got) < len(params)) {
			found, params = &routers.Route{Spec: doc, Path: template, PathItem: item, Method: method, Operation: operation}, got
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

// What is sent, and what the sandbox answers, fits what the network describes. It describes no token endpoint, no
// parameter of ours may be unknown, and refusals of the type about:blank are in no list of its own.
func TestCallsAreDescribed(t *testing.T) {
	t.Parallel()
	doc := description(t)
	w, l := newWorld(t, 10*time.Second), &library{}
	seen := map[string]bool{}
	w.wire.look = func(r *http.Request, response *http.Response) {
		if strings.HasSuffix(r.URL.Path, "/oauth2/token") {
			return
		}
		seen[fits(t, doc, r, response)] = true
	}
	everyCall(t, w, l)
	if len(seen) != 8 {
		t.Errorf("%d calls: %v", len(seen), seen)
	}
}

// fits checks a request and its answer: the path that describes it.
func fits(t *testing.T, doc *openapi3.T, r *http.Request, response *http.Response) string {
	t.Helper()
	described := r.Clone(context.Background())
	described.URL.Scheme, described.URL.Host, described.URL.Path = "https", "api.x.com", strings.TrimPrefix(r.URL.Path, "/x")
	described.Host = "api.x.com"
	route, params := find(doc, r.Method, described.URL.Path)
	if route == nil {
		t.Errorf("%s %s is not described", r.Method, r.URL.Path)
		return ""
	}
	for name := range r.URL.Query() {
		if route.Operation.Parameters.GetByInAndName("query", name) == nil {
			t.Errorf("%s %s: the parameter %s is not described", r.Method, r.URL.Path, name)
		}
	}
	input := &openapi3filter.RequestValidationInput{
		Request: described, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	if err := openapi3filter.ValidateRequest(t.Context(), input); err != nil {
		t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	body := replay(&response.Body)
	if strings.Contains(string(body), "about:blank") {
		return route.Path
	}
	header := response.Header.Clone()
	if response.StatusCode >= http.StatusBadRequest {
		header.Set("Content-Type", "application/problem+json")
	}
	err := openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: response.StatusCode, Header: header, Body: io.NopCloser(strings.NewReader(string(body))),
	})
	if err != nil {
		t.Errorf("%s %s: HTTP %d: %v", r.Method, r.URL.Path, response.StatusCode, err)
	}
	return route.Path
}

// everyCall makes each call that there is at least once, and some that are refused.
func everyCall(t *testing.T, w *world, l *library) {
	t.Helper()
	g := w.connect()
	for _, c := range []network.Content{
		{Text: "text https://example.org"}, {Text: "images", Media: []network.Media{l.png(t, 9), l.png(t, 8)}}, {Media: []network.Media{l.mp4()}},
	} {
		d, err := w.prepare(g, w.plan(c.Text, c.Media...), l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.network().Commit(t.Context(), g, d, nil); err != nil {
			t.Fatal(err)
		}
		if verdict, _, err := w.network().Resolve(t.Context(), g, d, network.Tried{}); err != nil || verdict != network.Stands {
			t.Fatalf("verdict %v, %v", verdict, err)
		}
	}
	for text, class := range map[string]network.Class{
		"[sandbox:reject]": network.Rejected, "[sandbox:error]": network.Uncertain, "[sandbox:rate-limit]": network.Rate, "[sandbox:expired-token]": network.AuthRefresh,
	} {
		_, err := w.network().Commit(t.Context(), w.connect(), w.prepared(g, text), nil)
		networktest.WantClass(t, err, class, "")
	}
	w.wantHeld(3)
}
