package tools

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/mcpsuite"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Reasons why scenarios do not apply to the program. internal/api/mcp runs these scenarios with the suite's
// fixtures.
const (
	fixture  = "requires a tool, prompt or resource of the suite's demonstration server"
	noParams = "no tool repeats arguments in headers"
)

var doNotApply = map[string]string{
	"completion-complete":    fixture,
	"json-schema-2020-12":    fixture,
	"prompts-get-simple":     fixture,
	"prompts-get-with-args":  fixture,
	"prompts-get-with-image": fixture,

	"prompts-get-embedded-resource": fixture,
	"resources-read-binary":         fixture,
	"resources-read-text":           fixture,
	"resources-templates-read":      fixture,
	"tools-call-audio":              fixture,
	"tools-call-embedded-resource":  fixture,
	"tools-call-error":              fixture,
	"tools-call-image":              fixture,
	"tools-call-mixed-content":      fixture,
	"tools-call-simple-text":        fixture,
	"tools-call-with-progress":      fixture,

	"server-stateless sep-2575-server-rejects-undeclared-capability":          fixture,
	"server-stateless sep-2575-missing-capability-http-400":                   fixture,
	"server-stateless sep-2575-http-server-no-independent-requests-on-stream": fixture,
	"server-stateless sep-2575-server-no-log-without-loglevel":                fixture,

	"http-custom-header-server-validation": noParams,
}

// The program passes all applicable scenarios for servers.
func TestConformance(t *testing.T) {
	t.Parallel()
	mcpsuite.Run(t, ".", withKey(t, quickstart(t)), doNotApply)
}

// withKey returns the URL of a proxy that adds a key, because the suite cannot send one. The proxy replaces its own
// origin in requests by the program's.
func withKey(t *testing.T, run greeting) string {
	t.Helper()
	target := must.Get(url.Parse(run.AppURL))(t)
	forward := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Set("Authorization", "Bearer "+run.Keys.Full)
		own := r.In.Context().Value(http.LocalAddrContextKey)
		if origin, err := url.Parse(r.In.Header.Get("Origin")); err == nil && isProxy(origin.Host, own) {
			r.Out.Header.Set("Origin", run.AppURL)
		}
	}}
	proxy := httptest.NewServer(readFirst(forward))
	t.Cleanup(proxy.Close)
	return proxy.URL + "/mcp"
}

// readFirst reads a request completely before forwarding it. Otherwise, an early response closes the request's body,
// and the transport truncates the response.
func readFirst(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "reading the request's body failed", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// isProxy reports whether a host is a loopback address with the port at which a request arrived.
func isProxy(host string, local any) bool {
	addr, ok := local.(interface{ String() string })
	if !ok {
		return false
	}
	port := addr.String()[strings.LastIndex(addr.String(), ":"):]
	return host == "localhost"+port || host == "127.0.0.1"+port
}
