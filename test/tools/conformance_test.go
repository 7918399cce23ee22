package tools

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// Reasons why scenarios of the suite fail because they do not apply to pressroom.
const (
	fixture   = "requireProgram a tool, prompt or resource of the suite's demonstration server"
	noLogging = "the server does not support log messages"
	noUpdates = "the server does not support subscriptions to resources"
	noInput   = "no tool requests input during a call, and the scenario requireProgram demonstration tools that do"
	noTasks   = "the server uses jobs and get_job for background work and does not support the extension for tasks"
	noParams  = "no tool repeats arguments in headers, and the scenario requireProgram a tool that does"
)

// expectedFailures are the scenarios that fail for one of these reasons, and the failing checks of scenarios that otherwise
// pass.
var expectedFailures = map[string]string{
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

	"logging-set-level":       noLogging,
	"tools-call-with-logging": noLogging,
	"resources-subscribe":     noUpdates,
	"resources-unsubscribe":   noUpdates,

	"elicitation-sep1034-defaults":                  noInput,
	"elicitation-sep1330-enums":                     noInput,
	"tools-call-elicitation":                        noInput,
	"tools-call-sampling":                           noInput,
	"input-required-result-basic-elicitation":       noInput,
	"input-required-result-basic-list-roots":        noInput,
	"input-required-result-basic-sampling":          noInput,
	"input-required-result-capability-check":        noInput,
	"input-required-result-multi-round":             noInput,
	"input-required-result-multiple-input-requests": noInput,
	"input-required-result-non-tool-request":        noInput,
	"input-required-result-request-state":           noInput,
	"input-required-result-result-type":             noInput,
	"input-required-result-tampered-state":          noInput,

	"http-custom-header-server-validation": noParams,

	"tasks-capability-negotiation": noTasks,
	"tasks-dispatch-and-envelope":  noTasks,
	"tasks-lifecycle":              noTasks,
	"tasks-mrtr-composition":       noTasks,
	"tasks-mrtr-input":             noTasks,
	"tasks-request-headers":        noTasks,
	"tasks-request-state-removal":  noTasks,
	"tasks-required-task-error":    noTasks,
	"tasks-wire-fields":            noTasks,
}

// check is the result of a check in the suite's output.
type check struct {
	ID, Status, ErrorMessage string
}

// All scenarios for servers pass, except for the expected failures, which must still fail.
func TestConformance(t *testing.T) {
	t.Parallel()
	requireProgram(t, suiteProgram)
	results := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "node", "--import", "./older-node.mjs", suiteProgram, "server", "--url",
		withKey(t, quickstart(t)), "--suite", "all", "-o", results)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput() // The suite exits with 1 because some scenarios fail.
	passed, reasons := map[string]int{}, map[string]bool{}
	for scenario, checks := range read(t, results) {
		for _, c := range checks {
			if c.Status == "SUCCESS" {
				passed[scenario]++
			}
			if c.Status != "FAILURE" {
				continue
			}
			name := scenario
			if expectedFailures[name] == "" {
				name += " " + c.ID
			}
			reasons[name] = true
			if expectedFailures[name] == "" {
				t.Errorf("%s: %s", name, c.ErrorMessage)
			}
		}
	}
	for name := range expectedFailures {
		if !reasons[name] {
			t.Errorf("%s passes: remove it from expectedFailures", name)
		}
	}
	for _, scenario := range []string{
		"server-initialize", "server-stateless", "ping", "tools-list", "resources-list", "prompts-list", "sep-2164-resource-not-found",
		"dns-rebinding-protection", "caching", "http-header-validation", "input-required-result-unsupported-methods",
	} {
		if passed[scenario] == 0 {
			t.Errorf("%s did not run: %v\n%s", scenario, err, out)
		}
	}
}

var scenarioFolder = regexp.MustCompile(`^server-(.+)-\d{4}-\d{2}-\d{2}T[0-9-]+Z$`)

// read returns the checks of each scenario.
func read(t *testing.T, results string) map[string][]check {
	t.Helper()
	folders := must.Get(os.ReadDir(results))(t)
	out := map[string][]check{}
	for _, folder := range folders {
		name := scenarioFolder.FindStringSubmatch(folder.Name())
		if name == nil {
			continue
		}
		raw := must.Get(os.ReadFile(filepath.Join(results, folder.Name(), "checks.json")))(t)
		var checks []check
		must.NoError(t, json.Unmarshal(raw, &checks))
		out[name[1]] = checks
	}
	return out
}

// withKey returns the URL of a proxy that adds a key, because the suite cannot send one. The proxy replaces its own origin by
// the program's.
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

// readFirst reads a request completely before it is forwarded. Otherwise an early response closes the request's body, and the
// transport truncates the response.
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
