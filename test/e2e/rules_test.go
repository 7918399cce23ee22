package e2e

import (
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/testkit/prism"
)

var requestIDs sync.Map // all X-Request-Ids seen

// checkRules checks the rules that apply to every response. The test client calls it for each response.
func (w *env) checkRules(req *http.Request, a answer) {
	wrong := func(what string, got any) {
		w.t.Helper()
		w.t.Errorf("%s %s answered %d with %s: %v\n%s", req.Method, req.URL.Path, a.status, what, got, a.raw)
	}
	for name := range a.header {
		if strings.HasPrefix(name, "Access-Control-") {
			wrong("a permission for other origins", name)
		}
	}
	if w.proxied {
		w.checkProxyFindings(req, a)
	}
	if strings.HasSuffix(req.URL.Path, "/openapi.json") && a.status < 400 {
		return // it may be cached
	}
	if got := a.header.Get("Cache-Control"); got != "no-store" {
		wrong("Cache-Control", got)
	}
	id := a.header.Get("X-Request-Id")
	if _, again := requestIDs.LoadOrStore(id, true); again || len(id) != 36 {
		wrong("an invalid or repeated X-Request-Id", id)
	}
	if !strings.HasPrefix(req.URL.Path, "/mcp") && req.Method != http.MethodHead {
		w.checkEnvelope(a, id, wrong)
		w.mustSetPlantedApart(a, wrong)
	}
}

// checkEnvelope checks that a REST response is an envelope or a problem document.
func (w *env) checkEnvelope(a answer, id string, wrong func(string, any)) {
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	if a.status >= 400 {
		switch link := a.text("type"); {
		case kind != "application/problem+json":
			wrong("a Content-Type that is not a problem's", kind)
		case a.number("status") != int64(a.status) || a.code() == "" || a.text("title") == "" || a.text("detail") == "":
			wrong("a problem that lacks something", "")
		case !strings.Contains(link, "/docs/errors#"+a.code()):
			wrong("a type that is no link to the code", link)
		case a.status == http.StatusTooManyRequests && a.text("context.retry_after_seconds") == "" ||
			a.header.Get("Retry-After") != a.text("context.retry_after_seconds"):
			wrong("a Retry-After that its context does not tell", a.header.Get("Retry-After"))
		}
		return
	}
	at, err := time.Parse(time.RFC3339, a.text("meta.answered_at.utc"))
	switch {
	case kind != "application/json":
		wrong("a Content-Type that is not JSON's", kind)
	case a.text("meta.request_id") != id:
		wrong("a request_id other than X-Request-Id", id)
	case err != nil || !strings.HasSuffix(a.text("meta.answered_at.utc"), "Z") || at.IsZero():
		wrong("no time of the answer", err)
	case !strings.HasPrefix(a.text("meta.app_url"), "http://127.0.0.1:"):
		wrong("an invalid link to the app", a.text("meta.app_url"))
	}
}

// checkProxyFindings checks the proxy's findings: every response and every successful request must match the API
// description.
func (w *env) checkProxyFindings(req *http.Request, a answer) {
	sent, answered := prism.Violations(a.header)
	if len(answered) > 0 {
		w.t.Errorf("%s %s: response %d does not match the description: %s\n%s", req.Method, req.URL, a.status,
			strings.Join(answered, "; "), a.raw)
	}
	if quoted := strings.HasPrefix(req.Header.Get("Idempotency-Key"), `"`); quoted {
		// The quotes belong to RFC 8941's syntax, not to the key whose length is described.
		sent = slices.DeleteFunc(sent, func(text string) bool { return strings.HasPrefix(text, "request.header.idempotency-key") })
	}
	if len(sent) > 0 && a.status < 300 {
		w.t.Errorf("%s %s: succeeded although the description does not allow it: %s", req.Method, req.URL, strings.Join(sent, "; "))
	}
}
