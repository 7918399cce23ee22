package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"pressroom/internal/access"
	"pressroom/internal/pipeline"
	"pressroom/internal/rest"
)

// attempt is a change of a scheduled post under way, with what can be wrong with it.
type attempt struct {
	method, path string
	level        access.Level
	revoked      bool
	body         string
	idem         string
}

// flaw makes an attempt fail one check.
type flaw struct {
	check string // as the edge and the pipeline name it
	code  string
	spoil func(*attempt)
}

// flaws holds one of each check, in their order.
var flaws = []flaw{
	{"address", "endpoint_not_found", func(a *attempt) { a.path += "/nowhere" }},
	{"method", "method_not_allowed", func(a *attempt) { a.method = http.MethodDelete }},
	{"authentication", "unauthorized", func(a *attempt) { a.revoked = true }},
	{"capability", "write_not_allowed", func(a *attempt) { a.level = access.ReadOnly }},
	{"arguments", "validation_failed", func(a *attempt) { a.body = `{"colour":"red"}` }},
	{"conditional_capability", "publish_not_allowed", func(a *attempt) {
		if a.level == access.Full {
			a.level = access.Drafts
		}
	}},
	{"idempotency", "idempotency_key_reused", func(a *attempt) { a.idem = "used before" }},
}

// Of two checks that a call fails, the earlier one answers; and a call that fails none goes through.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	names := []string{}
	for _, f := range flaws {
		names = append(names, f.check)
	}
	if checks := append(rest.Checks(), pipeline.Steps()...); !slices.Equal(checks, names) {
		t.Fatalf("the checks are %v; this test knows %v", checks, names)
	}
	worlds(t, options{accounts: 1}, func(t *testing.T, w *world) {
		id := w.scheduled("a scheduled post", 48*time.Hour)
		if got := w.attempt(id); got.status != http.StatusOK {
			t.Fatalf("without a flaw: %d %s", got.status, got.raw)
		}
		for i, first := range flaws {
			if got := w.attempt(id, first); got.code() != first.code {
				t.Errorf("%s: got %d %s, want %s", first.check, got.status, got.code(), first.code)
			}
			for _, later := range flaws[i+1:] {
				if got := w.attempt(id, first, later); got.code() != first.code {
					t.Errorf("%s and %s: got %d %s, want %s", first.check, later.check, got.status, got.code(), first.code)
				}
			}
		}
	})
}

// attempt changes a scheduled post with some flaws, each time with a key of its own.
func (w *world) attempt(id string, with ...flaw) answer {
	w.t.Helper()
	a := attempt{method: http.MethodPatch, path: "/posts/" + id, level: access.Full, body: `{"caption":"new"}`}
	for _, f := range with {
		f.spoil(&a)
	}
	keyID, key := w.newKey(w.team, a.level, time.Time{})
	if a.revoked {
		must(w.t, w.Teams.RevokeKey(w.t.Context(), keyID))
	}
	header := bearer(key)
	header["Content-Type"] = []string{"application/json"}
	if a.idem != "" {
		now := time.Now().UnixMicro()
		w.exec("INSERT INTO idempotency_records (key_id, key, operation, request_hash, created_at, expires_at) VALUES (?, ?, 'create_post', ?, ?, ?)",
			keyID, a.idem, []byte("of another request"), now, now+time.Hour.Microseconds())
		header["Idempotency-Key"] = []string{a.idem}
	}
	return w.raw(a.method, w.base+a.path, header, []byte(a.body))
}

// Within the arguments: the body comes before the key, and the key before what the body holds.
func TestOrderWithinArguments(t *testing.T) {
	t.Parallel()
	worlds(t, options{accounts: 1}, func(t *testing.T, w *world) {
		for i, c := range []struct {
			query, body, key string
			reason           string
		}{
			{"?x=1", `{`, "", "arguments_in_query"},
			{"", `{`, "", "body_not_a_json_object"},
			{"", `{"a":1,"a":1}`, "", "argument_given_twice"},
			{"", `{"colour":"red"}`, "", "idempotency_key_empty"},
			{"", fmt.Sprintf(`{"colour":%q}`, full(w)), "x", "secret_in_argument"},
			{"", `{"colour":"red","caption":5}`, "x", "unknown_argument"},
			{"", `{"caption":5}`, "x", "malformed"},
		} {
			header := bearer(full(w))
			header["Content-Type"], header["Idempotency-Key"] = []string{"application/json"}, []string{c.key}
			got := w.raw(http.MethodPost, w.base+"/posts"+c.query, header, []byte(c.body))
			if got.text("context.reason") != c.reason {
				t.Errorf("case %d: got %s, want %s: %s", i, got.text("context.reason"), c.reason, got.raw)
			}
		}
	})
}
