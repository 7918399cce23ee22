package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/api/rest"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit/must"
)

// callAttempt is a call, either a change of a scheduled post or a paid call. Its fields define everything that can
// be wrong.
type callAttempt struct {
	method, path string
	level        access.Level
	body         string
	idem         string

	revoked, paused, dry, broke, full bool
	requests                          int      // number of idempotency keys used before
	before                            []string // operations called before, on nonexistent items
}

// flaw changes an attempt so that it fails one check.
type flaw struct {
	check        string // name of the check in the server
	change, paid string // expected rejection of each kind of attempt; "" if it cannot fail the check
	spoil        func(*callAttempt)
}

// flaws lists a flaw for each check, in the order of the checks.
var flaws = []flaw{
	{"address", "endpoint_not_found", "endpoint_not_found", func(a *callAttempt) { a.path += "/nowhere" }},
	{"method", "method_not_allowed", "method_not_allowed", func(a *callAttempt) { a.method = http.MethodDelete }},
	{"authentication", "unauthorized", "unauthorized", func(a *callAttempt) { a.revoked = true }},
	{"request_rate", "rate_limited credential", "rate_limited credential", func(a *callAttempt) { a.requests = requestBurst }},
	{"gates", "connection_suspended", "connection_suspended", func(a *callAttempt) { a.paused = true }},
	{"capability", "write_not_allowed", "spend_not_allowed", func(a *callAttempt) { a.level = access.ReadOnly }},
	{"arguments", "validation_failed unknown_argument", "validation_failed unknown_argument", func(a *callAttempt) {
		a.body = `{"colour":"red"}`
	}},
	{"room", "service_unavailable busy", "service_unavailable busy", func(a *callAttempt) { a.full = true }},
	{"conditional_capability", "publish_not_allowed", "", func(a *callAttempt) {
		if a.level == access.Full {
			a.level = access.Drafts
		}
	}},
	{"idempotency", "idempotency_key_reused", "idempotency_key_reused charge_key_spent", func(a *callAttempt) { a.idem = "used before" }},
	{"action_limits", "rate_limited connection", "rate_limited connection", func(a *callAttempt) {
		a.before = append(a.before, "cancel_post", "cancel_post")
	}},
	{"action_limits", "", "rate_limited provider", func(a *callAttempt) { a.before = append(a.before, "publish_post") }},
	{"daily_calls", "daily_call_limit_reached", "", func(a *callAttempt) { a.dry = true }},
	{"credits", "", "insufficient_credits", func(a *callAttempt) { a.broke = true }},
}

const requestBurst = 10

// tightCatalog returns a catalog whose limits are exceeded quickly and for at least a minute.
func tightCatalog() *plan.Catalog {
	t := ampleCatalog()
	t.Limits.Requests = plan.Rate{PerMinute: 1, Burst: requestBurst}
	t.Limits.Writes = plan.Rate{PerMinute: 1, Burst: 2}
	t.Limits.Networks = plan.Rate{PerMinute: 1, Burst: 1}
	p, _ := t.Plan("agency")
	p.ID, p.FreeCallsPerDay = dryPlan, 0
	t.Plans = append(t.Plans, p)
	return t
}

// dryPlan is a plan without free calls.
const dryPlan = "dry"

// If a call fails two checks, the error of the earlier check is returned. A call without flaws succeeds.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	names := []string{}
	for _, f := range flaws {
		names = append(names, f.check)
	}
	if checks := append(rest.Checks(), pipeline.Steps()...); !slices.Equal(checks, slices.Compact(names)) {
		t.Fatalf("the server's checks are %v, want %v", checks, names)
	}
	withSlotBlocker(t, options{accounts: 1, catalog: tightCatalog()}, func(t *testing.T, h *instance, o options, c *slotBlocker) {
		o.maxCalls = 1
		_, root := h.start(o, server.RoleAPI)
		c.fill(h.newEnv(t, o), root+"/api/v1", 1)
		defer c.empty()
		h.full = root + "/api/v1"
		t.Run("pairs", func(t *testing.T) { tryPairs(t, h, o) }) // groups the parallel subtests
	})
}

func tryPairs(t *testing.T, h *instance, o options) {
	t.Run("of a change", func(t *testing.T) {
		t.Parallel()
		w := h.newEnv(t, o)
		id := w.schedulePost("a scheduled post", 48*time.Hour)
		tryInPairs(t, func(f flaw) string { return f.change }, func(with ...flaw) answer {
			return w.attempt(callAttempt{method: http.MethodPatch, path: "/posts/" + id, level: access.Full,
				body: `{"caption":"new"}`}, with)
		})
	})
	t.Run("of a paid call", func(t *testing.T) {
		t.Parallel()
		rich, poor := h.newEnv(t, o), h.newEnv(t, o)
		rich.grant(1000)
		tryInPairs(t, func(f flaw) string { return f.paid }, func(with ...flaw) answer {
			w := rich
			if slices.ContainsFunc(with, func(f flaw) bool { return f.check == "credits" }) {
				w = poor
			}
			return w.attempt(callAttempt{
				method: http.MethodPost, path: "/hashtags/standins/" + aReport + "/refresh", level: access.Full, body: `{}`, idem: "new",
			}, with)
		})
	})
}

// tryInPairs makes an attempt without flaws, with each flaw, and with each pair of flaws that apply to it.
func tryInPairs(t *testing.T, answerTo func(flaw) string, try func(...flaw) answer) {
	t.Helper()
	known := slices.DeleteFunc(slices.Clone(flaws), func(f flaw) bool { return answerTo(f) == "" })
	if got := try(); got.status != http.StatusOK {
		t.Fatalf("without a flaw: %d %s", got.status, got.raw)
	}
	for i, first := range known {
		want := answerTo(first)
		if got := try(first); got.rejectionText() != want {
			t.Errorf("%s: got %s, want %s", first.check, got.rejectionText(), want)
		}
		for _, later := range known[i+1:] {
			if got := try(first, later); got.rejectionText() != want {
				t.Errorf("%s and %s: got %s, want %s", first.check, later.check, got.rejectionText(), want)
			}
		}
	}
}

// rejectionText returns the error code with its scope or reason.
func (a answer) rejectionText() string {
	return strings.TrimSpace(a.code() + " " + a.text("context.scope") + a.text("context.reason"))
}

// attempt makes a call with the given flaws and a new idempotency key.
func (w *env) attempt(a callAttempt, with []flaw) answer {
	w.t.Helper()
	for _, f := range with {
		f.spoil(&a)
	}
	keyID, key := w.newKey(w.team, a.level, time.Time{})
	base := w.base
	if a.full { // on a separate request limit
		base = w.instance.full
	}
	send := func() answer {
		header := bearer(key)
		header["Content-Type"] = []string{"application/json"}
		if a.idem != "" {
			header["Idempotency-Key"] = []string{a.idem}
		}
		return w.raw(a.method, base+a.path, header, []byte(a.body))
	}
	if a.idem == "used before" {
		w.useBefore(keyID, a, send)
	}
	for _, tool := range a.before {
		w.restAt(base, key, tool, map[string]any{"post_id": noSuchID}, "")
	}
	w.closeGates(keyID, a)
	for range a.requests {
		w.restAt(base, key, "get_identity", nil, "")
	}
	got := send()
	if a.dry {
		must.NoError(w.t, w.Teams.SetPlan(w.t.Context(), w.team, "agency", time.Time{}))
	}
	return got
}

// useBefore uses the attempt's Idempotency-Key before the attempt: for another request or, for a paid call, for the
// same request with an expired result.
func (w *env) useBefore(key int64, a callAttempt, send func() answer) {
	w.t.Helper()
	if a.method == http.MethodPatch {
		now := time.Now().UnixMicro()
		w.exec("INSERT INTO idempotency_records (key_id, key, operation, request_hash, created_at, expires_at) VALUES "+
			"(?, ?, 'create_post', ?, ?, ?)",
			key, a.idem, []byte("of another request"), now, now+time.Hour.Microseconds())
		return
	}
	w.grant(refreshPrice)
	send()
	w.exec("DELETE FROM paid_requests WHERE key_id = ?", key)
}

// closeGates revokes the key and sets the pauses and limits that the attempt requires.
func (w *env) closeGates(key int64, a callAttempt) {
	w.t.Helper()
	if a.paused {
		must.NoError(w.t, w.Teams.Pause(w.t.Context(), team.Pause{Scope: team.ForKey, Target: key, Action: access.PauseEverything}))
	}
	if a.dry {
		must.NoError(w.t, w.Teams.SetPlan(w.t.Context(), w.team, dryPlan, time.Time{}))
	}
	if a.revoked {
		must.NoError(w.t, w.Teams.RevokeKey(w.t.Context(), key))
	}
}

// The JSON body is parsed before the Idempotency-Key is checked. Members of the body are checked last.
func TestOrderWithinArguments(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
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
