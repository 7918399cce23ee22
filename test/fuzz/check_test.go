package fuzz

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// maxRequestTime is the maximum duration of a request. Calls that wait for a job wait for a shorter time.
const maxRequestTime = 70 * time.Second

// answer is a response.
type answer struct {
	status  int // for a tool call, the status that REST would return
	header  http.Header
	body    []byte
	members map[string]any // members of the envelope or problem document
	plain   bool           // a response of the MCP protocol itself, not of an operation
}

// ask sends a request. It returns a complaint if the server panics or does not respond.
func (h *env) ask(r *request) (answer, string) {
	req, ok := r.parse()
	if !ok {
		return answer{}, ""
	}
	recorder, ended := httptest.NewRecorder(), make(chan string, 1)
	go func() {
		defer func() {
			if broken := recover(); broken != nil {
				ended <- fmt.Sprintf("the server panics: %v\n%s", broken, debug.Stack())
			}
		}()
		h.Handler().ServeHTTP(recorder, req.WithContext(h.t.Context()))
		ended <- ""
	}()
	select {
	case broken := <-ended:
		if broken != "" {
			return answer{}, broken
		}
	case <-time.After(maxRequestTime):
		return answer{}, "no answer within " + maxRequestTime.String()
	}
	a := answer{status: recorder.Code, header: recorder.Header(), body: recorder.Body.Bytes()}
	_ = json.Unmarshal(a.body, &a.members) // invalid JSON is detected below
	if r.edge() == atTools {
		a.unwrap(r.op)
	}
	return a, ""
}

// unwrap extracts an operation's answer from a tool result.
func (a *answer) unwrap(op *described) {
	result, _ := a.members["result"].(map[string]any)
	content, _ := result["content"].([]any)
	a.plain = a.status < 300 && len(content) < 2 || a.status == http.StatusBadRequest ||
		a.status == http.StatusRequestEntityTooLarge || a.members["jsonrpc"] != nil && result == nil
	if a.plain || result == nil {
		return
	}
	block, _ := content[1].(map[string]any)
	text, _ := block["text"].(string)
	a.members = nil
	if structured, ok := result["structuredContent"].(map[string]any); ok {
		a.members, a.status = structured, op.success
	} else if json.Unmarshal([]byte(text), &a.members) != nil {
		a.plain = true
		return
	}
	if failed, _ := result["isError"].(bool); failed {
		status, _ := a.members["status"].(float64)
		a.status = int(status)
	}
}

// brokenRule returns the violated rule, or "".
func (a *answer) brokenRule(r *request) string {
	for _, check := range []func(*request) string{a.serverError, a.echoes, a.checkComplete, a.violation} {
		if what := check(r); what != "" {
			return what
		}
	}
	return ""
}

// serverError checks that a request causes no internal error. Network errors are allowed if the description lists
// them.
func (a *answer) serverError(r *request) string {
	code, _ := a.members["code"].(string)
	if a.status >= 500 && (a.status != http.StatusServiceUnavailable && r.op.answers[a.status] == nil || code == "" ||
		code == "internal_error") {
		return fmt.Sprintf("it fails with %d", a.status)
	}
	return ""
}

// echoes checks that an error does not contain the input, except an unknown argument's name and the JSON-RPC ID.
func (a *answer) echoes(*request) string {
	if a.status < 400 && !a.plain {
		return ""
	}
	body := a.body
	context, _ := a.members["context"].(map[string]any)
	if name, _ := context["argument"].(string); argumentName.MatchString(name) {
		body = bytes.ReplaceAll(body, []byte(name), nil)
	}
	if a.members["jsonrpc"] != nil {
		if id, err := json.Marshal(a.members["id"]); err == nil && len(id) > 2 {
			body = bytes.ReplaceAll(body, id, nil)
		}
	}
	if bytes.Contains(bytes.ToLower(body), []byte(marker)) || strings.Contains(strings.ToLower(fmt.Sprint(a.header)), marker) {
		return "an error contains the input"
	}
	return ""
}

// argumentName matches the names of arguments and of their members, which an error may contain.
var argumentName = regexp.MustCompile(`^[a-z0-9_]{1,64}(\.[a-z0-9_]{1,64})*$`)

// checkComplete checks that a response is complete and not cacheable.
func (a *answer) checkComplete(r *request) string {
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	switch {
	case a.header.Get("Access-Control-Allow-Origin") != "":
		return "another origin may read it"
	case r.edge() == atPages:
		return ""
	case a.header.Get("Cache-Control") != "no-store":
		return "it may be cached"
	case a.plain || r.method == http.MethodHead:
		return ""
	case a.status < 300 && a.members["data"] == nil:
		return "a success without data"
	case a.status >= 300 && a.status < 400:
		return "it leads elsewhere"
	case a.status < 400:
		return ""
	case r.edge() == atREST && kind != "application/problem+json":
		return "an error that is not a problem document"
	}
	for _, name := range []string{"type", "title", "detail", "code"} {
		if text, _ := a.members[name].(string); text == "" {
			return "a problem without " + name
		}
	}
	if status, _ := a.members["status"].(float64); int(status) != a.status {
		return "a problem document with a different status"
	}
	return ""
}

// violation returns how the response violates the OpenAPI document, or "". Requests to unknown paths and methods are
// not checked.
func (a *answer) violation(r *request) string {
	code, _ := a.members["code"].(string)
	if a.plain || r.edge() == atPages || r.method == http.MethodHead || code == "endpoint_not_found" ||
		code == "method_not_allowed" || a.members == nil {
		return ""
	}
	if !r.tool && (r.method != r.op.method || !r.isUnchanged()) {
		return ""
	}
	form := r.op.answers[a.status]
	if form == nil {
		return fmt.Sprintf("%d %s is no answer that the description has", a.status, code)
	}
	if err := form.Validate(a.members); err != nil {
		return "the response does not match the description: " + err.Error()
	}
	return ""
}

// isUnchanged reports whether the request still has the path and method of its operation.
func (r *request) isUnchanged() bool {
	path, _, _ := strings.Cut(r.target, "?")
	ours, theirs := strings.Split(r.op.path, "/"), strings.Split(strings.TrimPrefix(path, "/api/v1"), "/")
	if len(ours) != len(theirs) {
		return false
	}
	for i, part := range ours {
		if !strings.HasPrefix(part, "{") && part != theirs[i] {
			return false
		}
	}
	return true
}
