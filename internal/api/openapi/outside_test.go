package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"pressroom.example/pressroom/internal/api/openapi"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/testkit/prism"
)

// kin-openapi, which Go generators use, accepts the document.
func TestKinOpenAPI(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(build(t, openapi.Version))
	if err != nil {
		t.Fatalf("LoadFromData: %v", err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Errorf("Validate: %v", err)
	}
}

// TestPrism sends every operation's example through Prism to a server that returns the example of the response. Prism
// validates both against the closed document.
func TestPrism(t *testing.T) {
	raw, err := openapi.Build(registry(), openapi.Info{Version: openapi.Version, ServerURL: apiPath, Strict: true})
	if err != nil {
		t.Fatalf("Build: %v", err)
	}
	file := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatalf("writing the document: %v", err)
	}
	upstream := httptest.NewServer(exampleServer(t, parse(t, raw)))
	t.Cleanup(upstream.Close)
	proxy := prism.Start(t, file, upstream.URL+apiPath)
	for _, op := range registry().All() {
		t.Run(op.Tool, func(t *testing.T) {
			resp, err := http.DefaultClient.Do(exampleRequest(t, proxy, op))
			if err != nil {
				t.Fatalf("calling: %v", err)
			}
			defer func() { _ = resp.Body.Close() }() // the test has ended
			if resp.StatusCode != op.Success {
				text, _ := io.ReadAll(resp.Body) // only for the message
				t.Errorf("status %d, want %d: %s", resp.StatusCode, op.Success, text)
			}
			request, response := prism.Violations(resp.Header)
			if len(request)+len(response) > 0 {
				t.Errorf("Prism objects to the request: %q, to the response: %q", request, response)
			}
		})
	}
}

// exampleServer returns a handler that responds to every operation with its example.
func exampleServer(t *testing.T, doc described) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	for _, op := range registry().All() {
		success := doc.Paths[op.Path][strings.ToLower(op.Method)].Responses
		mux.HandleFunc(op.Method+" "+apiPath+op.Path, func(w http.ResponseWriter, _ *http.Request) {
			body, err := json.Marshal(success[status(op)].Content["application/json"].Example)
			if err != nil {
				t.Errorf("writing the example: %v", err)
			}
			h := w.Header()
			h.Set("Content-Type", "application/json")
			h.Set("Cache-Control", "no-store")
			h.Set("X-Request-Id", "019d3889-36e0-7b44-9c55-3f0a4c6d0003")
			if op.Success != http.StatusOK {
				h.Set("Location", "https://pressroom.example/api/v1/somewhere")
			}
			w.WriteHeader(op.Success)
			_, _ = w.Write(body) // the proxy may have disconnected
		})
	}
	return mux
}

// exampleRequest returns the request of an operation's example.
func exampleRequest(t *testing.T, base string, op *operation.Operation) *http.Request {
	t.Helper()
	address, body := base+op.Path, map[string]any{}
	query := url.Values{}
	for name, value := range op.Example.Arguments {
		brace := "{" + name + "}"
		switch {
		case strings.Contains(address, brace):
			address = strings.ReplaceAll(address, brace, url.PathEscape(fmt.Sprint(value)))
		case op.Reads():
			query.Set(name, fmt.Sprint(value))
		default:
			body[name] = value
		}
	}
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatalf("writing the body: %v", err)
	}
	if !op.TakesBody() || op.Reads() {
		text = nil
	}
	req, err := http.NewRequest(op.Method, address, bytes.NewReader(text))
	if err != nil {
		t.Fatalf("making the request: %v", err)
	}
	req.Header.Set("Authorization", "Bearer prk_example")
	if op.Key != operation.KeyRejected {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", "calendar-2026-03-29")
	}
	return req
}
