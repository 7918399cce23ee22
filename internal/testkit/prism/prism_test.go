package prism_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/testkit/prism"
)

// response is the response of the upstream.
type response struct {
	status int
	body   string
}

// TestStart checks that the proxy reports violations and does not change responses.
func TestStart(t *testing.T) {
	var reply atomic.Pointer[response]
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/api/") {
			t.Errorf("the upstream got a request for %s, which is not below its URL", r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.Load().status)
		_, _ = io.WriteString(w, reply.Load().body) // The proxy may have ended.
	}))
	t.Cleanup(upstream.Close)
	proxy := prism.Start(t, "testdata/toy.json", upstream.URL+"/api")

	for _, tt := range []struct {
		name, path        string
		status            int
		answer            string
		request, response string // expected part of a violation; empty if none is expected
	}{
		{"valid", "/boats?limit=3", http.StatusOK, `{"boats":["Ada"]}`, "", ""},
		{"missing property", "/boats", http.StatusOK, `{}`, "", "required property 'boats'"},
		{"additional property", "/boats", http.StatusOK, `{"boats":[],"oars":2}`, "", "found 'oars'"},
		{"wrong type", "/boats", http.StatusOK, `{"boats":"Ada"}`, "", "must be array"},
		{"undocumented status", "/boats", http.StatusTeapot, `{}`, "", "status code"},
		{"parameter out of range", "/boats?limit=51", http.StatusOK, `{"boats":[]}`, "<= 50", ""},
		{"undocumented path", "/oars", http.StatusOK, `{}`, "route not found", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply.Store(&response{tt.status, tt.answer})
			resp, body := get(t, proxy+tt.path)
			if resp.StatusCode != tt.status || body != tt.answer {
				t.Errorf("GET %s = %d %s, want the upstream's response: %d %s", tt.path, resp.StatusCode, body, tt.status, tt.answer)
			}
			request, response := prism.Violations(resp.Header)
			checkViolation(t, "request", request, tt.request)
			checkViolation(t, "response", response, tt.response)
		})
	}
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	defer func() { _ = resp.Body.Close() }() // The body was read completely.
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("reading the response to GET %s: %v", url, err)
	}
	return resp, string(body)
}

func checkViolation(t *testing.T, part string, violations []string, want string) {
	t.Helper()
	switch {
	case want == "" && len(violations) > 0:
		t.Errorf("violations of the %s: %q, want none", part, violations)
	case want != "" && !slices.ContainsFunc(violations, func(v string) bool { return strings.Contains(v, want) }):
		t.Errorf("violations of the %s: %q, want one with %q", part, violations, want)
	}
}

func TestViolations(t *testing.T) {
	const cut = `Too many violations! [{"location":["response","bo`
	for _, tt := range []struct {
		name, header      string
		request, response []string
	}{
		{"none", "", nil, nil},
		{"request and response", `[{"location":["request","query","limit"],"severity":"Error","code":"maximum","message":"too large"},` +
			`{"location":["response"],"severity":"Warning","code":401,"message":"odd"}]`,
			[]string{"request.query.limit: too large"}, []string{"response: odd"}},
		{"no location", `[{"message":"odd"}]`, nil, []string{": odd"}},
		{"truncated", cut, nil, []string{cut}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			if tt.header != "" {
				h.Set("SL-Violations", tt.header)
			}
			request, response := prism.Violations(h)
			if diff := cmp.Diff([][]string{tt.request, tt.response}, [][]string{request, response}); diff != "" {
				t.Errorf("Violations (-want +got):\n%s", diff)
			}
		})
	}
}
