package delivery

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/testkit/must"
)

// TestTemporaryCodesAreComplete checks that retryableCodes has each error code of posts and deliveries.
func TestTemporaryCodesAreComplete(t *testing.T) {
	t.Parallel()
	seen := errorCodes(t)
	for code := range seen {
		if _, ok := retryableCodes[code]; !ok && !slices.Contains([]string{"not_confirmed", "internal_error"}, code) {
			t.Errorf("temporary does not have the error code %s", code)
		}
	}
	for code := range retryableCodes {
		if !seen[code] || job.Message(code) == "" {
			t.Errorf("temporary has %s, which is no error code", code)
		}
	}
}

// errorCodes returns the error codes in the code of posts and deliveries.
func errorCodes(t *testing.T) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	files := append(must.Get(filepath.Glob("*.go"))(t), must.Get(filepath.Glob("../post/*.go"))(t)...)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if code, err := strconv.Unquote(lit.Value); err == nil && job.Message(code) != "" {
					seen[code] = true
				}
			}
			return true
		})
	}
	return seen
}

func TestIsTemporary(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"rejected_content", "rejected_media", "duplicate_content", "preflight_blocked", "", "unknown"} {
		if IsRetryableCode(code) {
			t.Errorf("IsTemporary(%q) = true", code)
		}
	}
	for _, code := range []string{"network_error", "rate_limited", "quota_used_up", "account_needs_reauth", "server_not_allowed",
		"app_not_approved", "missed_waiting_approval", "missed_while_held", "plan_limit_reached", "thread_interrupted"} {
		if !IsRetryableCode(code) {
			t.Errorf("IsTemporary(%q) = false", code)
		}
	}
}
