package problem_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Every error code has exactly one status and title.
func TestEveryCodeInReference(t *testing.T) {
	t.Parallel()
	listed := map[string]int{}
	for _, e := range problem.Entries() {
		listed[string(e.Code)]++
		if e.Status < 400 || e.Title == "" {
			t.Errorf("%+v", e)
		}
	}
	codes := declaredCodes(t)
	if len(codes) < 30 {
		t.Fatalf("only %d codes were found", len(codes))
	}
	for _, code := range codes {
		if listed[code] != 1 {
			t.Errorf("%s is listed %d times", code, listed[code])
		}
	}
}

// declaredCodes returns the constants of type Code in package apierr.
func declaredCodes(t *testing.T) []string {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), "../../apierr/apierr.go", nil, 0))(t)
	codes := []string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Code" {
			text := must.Get(strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value))(t)
			codes = append(codes, text)
		}
		return true
	})
	return codes
}

// An error without a code becomes internal_error and reveals nothing about its cause.
func TestUnknownErrorsRevealNothing(t *testing.T) {
	t.Parallel()
	doc := problem.FromError(errors.New("pq: password of user pressroom"), "https://press.example")
	raw := must.Get(json.Marshal(doc))(t)
	if doc.Status != 500 || doc.Code != apierr.Internal || strings.Contains(string(raw), "password") {
		t.Errorf("%s", raw)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	status := problem.Write(w, apierr.New(apierr.RateLimited, "Slow.").With("scope", "credential").
		WithRetryAfter(1500*time.Millisecond), "https://press.example")
	if status != 429 || w.Code != 429 || w.Header().Get("Retry-After") != "2" ||
		w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	var doc map[string]any
	must.NoError(t, json.Unmarshal(w.Body.Bytes(), &doc))
	context, _ := doc["context"].(map[string]any)
	if doc["type"] != "https://press.example/docs/errors#rate_limited" || context["retry_after_seconds"] != 2.0 ||
		context["scope"] != "credential" {
		t.Errorf("%s", w.Body)
	}
	w = httptest.NewRecorder()
	problem.Write(w, apierr.New(apierr.Unauthorized, "Who?"), "https://press.example")
	if got := w.Header().Get("WWW-Authenticate"); got != `Bearer realm="api"` {
		t.Errorf("WWW-Authenticate: %s", got)
	}
}
