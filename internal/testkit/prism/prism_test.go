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

// answer is the response of the upstream.
type answer struct {
	status int
	body   string
}

// TestStart checks that the proxy reports violations, and changes no response.
func TestStart(t *testing.T) {
	var reply atomic.Pointer[answer]
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/api/") {
			t.Errorf("the upstream was asked for %s, which is not below its URL", r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.Load().status)
		_, _ = io.WriteString(w, reply.Load().body) // the proxy may be gone
	}))
	t.Cleanup(upstream.Close)
	proxy := prism.Start(t, "testdata/toy.json", upstream.URL+"/api")

	for _, tt := range []struct {
		name, path        string
		status            int
		answer            string
		request, response string // within the violations; empty where there is to be none
	}{
		{"right", "/boats?limit=3", http.StatusOK, `{"boats":["Ada"]}`, "", ""},
		{"member missing", "/boats", http.StatusOK, `{}`, "", "required property 'boats'"},
		{"member too many", "/boats", http.StatusOK, `{"boats":[],"oars":2}`, "", "found 'oars'"},
		{"wrong kind", "/boats", http.StatusOK, `{"boats":"Ada"}`, "", "must be array"},
		{"status that is not described", "/boats", http.StatusTeapot, `{}`, "", "status code"},
		{"argument out of its range", "/boats?limit=51", http.StatusOK, `{"boats":[]}`, "<= 50", ""},
		{"path that is not described", "/oars", http.StatusOK, `{}`, "route not found", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply.Store(&answer{tt.status, tt.answer})
			resp, body := get(t, proxy+tt.path)
			if resp.StatusCode != tt.status || body != tt.answer {
				t.Errorf("GET %s = %d %s, want what the upstream sent: %d %s", tt.path, resp.StatusCode, body, tt.status, tt.answer)
			}
			request, response := prism.Violations(resp.Header)
			has(t, "request", request, tt.request)
			has(t, "response", response, tt.response)
		})
	}
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("reading the answer to GET %s: %v", url, err)
	}
	return resp, string(body)
}

func has(t *testing.T, part string, violations []string, want string) {
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
		{"one of each", `[{"location":["request","query","limit"],"severity":"Error","code":"maximum","message":"too large"},` +
			`{"location":["response"],"severity":"Warning","code":401,"message":"odd"}]`,
			[]string{"request.query.limit: too large"}, []string{"response: odd"}},
		{"place unknown", `[{"message":"odd"}]`, nil, []string{": odd"}},
		{"cut off", cut, nil, []string{cut}},
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
